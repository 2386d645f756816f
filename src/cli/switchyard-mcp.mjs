#!/usr/bin/env node
import '../app/startup/require-node-24.mjs';

await import('./mcp.ts');
