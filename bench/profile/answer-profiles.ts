import { type Profiler, Session } from 'node:inspector';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type { Profile } from './profile-figures.ts';

// Loaded into the service before its own code (`node --import`). The question `start profile` begins a profile of the
// main thread, `end profile` is answered with it.

const sampleUs = 200;

/** @param root the URL of the project's folder, with a slash at its end */
function answerQuestions(root: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: sampleUs });
  process.on('message', (question) => {
    if (question === 'start profile') session.post('Profiler.start', () => process.send?.('started'));
    if (question === 'end profile') {
      session.post('Profiler.stop', (error, { profile }) => {
        if (error !== null) throw error;
        process.send?.(profileOf(profile, root));
      });
    }
  });
  process.channel?.unref();
}

function profileOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, root: string): Profile {
  const functions = new Map(
    nodes.map(({ id, callFrame }) => [
      id,
      `${callFrame.functionName || '(anonymous)'} ${callFrame.url.replace(root, '')}`,
    ]),
  );
  const microseconds: Record<string, number> = {};
  samples.forEach((id, index) => {
    const name = functions.get(id) ?? 'unknown';
    microseconds[name] = (microseconds[name] ?? 0) + (timeDeltas[index] ?? 0);
  });
  return microseconds;
}

const [, main = ''] = process.argv;
if (isMainThread && main.endsWith('main.ts')) answerQuestions(pathToFileURL(join(dirname(main), '../')).href);
