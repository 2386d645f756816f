import { join } from 'node:path';
import { runTool } from '#cli/shared/command-line.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { checkReplay } from './replay/replay-check.ts';
import { replayUntil } from './replay/replay-until.ts';
import { parseWords, unknownWord } from './shared/command-line.ts';

const usage = `Usage: npm run replay -- --until <time|position> --into <folder>
       npm run replay -- check

  --until     replays the log up to a moment: the last event before the first later one, or up to a position. A day alone,
              like 2026-01-05, is where it begins in UTC
    --into <folder>  where the read models of then are made: a folder that is empty, or not there yet. The log is that of
                     EVENT_STORE_URL, or events.db in DATA_DIR; its service may run. To read them, start a service:
                     READ_ONLY=true DATA_DIR=<folder> EVENT_STORE_URL=<the log> npm start
  check       replays a frozen event of every shape that was ever written, and compares what today's code makes of it with
              the records in test/fixtures/records/
    --write   writes the records of an event that has none; to accept a change, remove the old records first
`;

const fixtures = join(import.meta.dirname, '../../test/fixtures');

const interrupted = new AbortController();
// A second one ends the process immediately.
process.once('SIGINT', () => interrupted.abort(new StartupError('stopped: remove the folder, and run it again.')));
process.once('SIGTERM', () => interrupted.abort(new StartupError('stopped: remove the folder, and run it again.')));

await runTool('replay', usage, run, UnavailableError);

async function run(words: string[]): Promise<number | null> {
  const { values, positionals } = parsed(words);
  const { until, into, write } = values;
  const [command, surplus] = positionals;
  if (command !== undefined && command !== 'check') throw unknownWord('replay', command, ['check']);
  if (surplus !== undefined) throw unknownWord('replay', surplus, []);
  if (command === 'check') {
    const other = Object.keys(values).find((name) => name !== 'write');
    if (other !== undefined) throw unknownWord('replay', `--${other}`, ['--write']);
    return check(write === true);
  }
  if (until === undefined || into === undefined || write !== undefined) return null;
  return replayUntil(until, into, interrupted.signal);
}

function parsed(words: string[]) {
  const options = { until: { type: 'string' }, into: { type: 'string' }, write: { type: 'boolean' } } as const;
  return parseWords('npm run replay -- --help', { args: words, options, allowPositionals: true });
}

function check(writesMissing: boolean): number {
  const { events, streams, differences } = checkReplay(fixtures, writesMissing);
  for (const difference of differences) process.stderr.write(`replay: ${difference}\n`);
  process.stdout.write(`replayed ${events} frozen events of ${streams} streams, ${differences.length} differ\n`);
  return differences.length === 0 ? 0 : 1;
}
