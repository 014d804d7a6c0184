"""What plugs Elision into the world: dialects, hosts, and the registration of the built-ins."""
