"""The core: text to events and events to text."""
