import module from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Keeps what Node compiles, in the folder that NODE_COMPILE_CACHE names or else in `.cache/compiled` next to `src`,
 * which `npm ci` does not empty. A later start is a third shorter, and none of its threads needs memory for the
 * compiler of TypeScript. Where the folder cannot be written, nothing is kept. NODE_DISABLE_COMPILE_CACHE=1 turns it
 * off. Coverage is counted in code that was compiled with it, so a run that counts it keeps nothing.
 *
 * @see https://nodejs.org/api/module.html#module-compile-cache
 */
if (!process.env.NODE_V8_COVERAGE) {
  process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../../../.cache/compiled', import.meta.url));
  // Of this thread. The variable is for its threads and the processes that it starts. Old Nodes have no such function.
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);
}
