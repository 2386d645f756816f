import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';

/** Shared by all processes and threads of a run, because most of a start is compiling. `npm ci` empties it. */
export const compileCache = resolve(import.meta.dirname, '../../../node_modules/.cache/compiled');

// Coverage counts in code that was compiled with it.
if (!process.env.NODE_V8_COVERAGE) {
  // Of this process; the variable is for its threads and the processes that it starts.
  enableCompileCache(compileCache);
  process.env.NODE_COMPILE_CACHE = compileCache;
}
