#!/usr/bin/env node
import '../app/startup/preload.mjs';

await import('./mcp.ts');
