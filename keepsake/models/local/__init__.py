"""Models on this machine: embedders in this process, and llama.cpp in a child process."""
