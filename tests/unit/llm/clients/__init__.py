"""The clients for Ollama's API and OpenAI's, over HTTP."""
