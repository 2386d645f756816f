import { Session } from 'node:inspector';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

// Loaded into the service before its own code (`node --import`). On the main thread V8 counts the calls of each function.
// The question `called files` is answered with the files of the project that had a call since the last question.

const ownFolder = /^(?:src|commands|queries|projections)\//;

/** @param root the URL of the project's folder, with a slash at its end */
function answerQuestions(root: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('message', (question) => {
    if (question !== 'called files') return;
    // Taking the counts also resets them.
    session.post('Profiler.takePreciseCoverage', (error, counts) => {
      if (error !== null) throw error;
      const called = counts.result.filter(({ functions }) =>
        functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
      );
      const files = called.flatMap(({ url }) => (url.startsWith(root) ? [url.slice(root.length)] : []));
      process.send?.(files.filter((file) => ownFolder.test(file)));
    });
  });
  process.channel?.unref();
}

const [, main = ''] = process.argv;
if (isMainThread && main.endsWith('main.ts')) answerQuestions(pathToFileURL(join(dirname(main), '../')).href);
