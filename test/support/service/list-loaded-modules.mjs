/**
 * With `node --import`: appends the address of each module that the main thread loads to the file that the variable
 * LOADED_MODULES names, a line each.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const file = process.env.LOADED_MODULES;
if (isMainThread && file !== undefined) {
  registerHooks({
    load: (url, context, nextLoad) => {
      appendFileSync(file, `${url}\n`);
      return nextLoad(url, context);
    },
  });
}
