"""From texts to lines for pipes, and to what is wrong with them."""
