"""One turn of an agent: whom it answers, its scene, its prompt, the attempts, what is done."""
