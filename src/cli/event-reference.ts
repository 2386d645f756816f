import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '#cli/shared/command-line.ts';
import { describeEvents, listEvents } from './events/describe-events.ts';
import { unknownWord } from './shared/command-line.ts';

const usage = `Usage: npm run event-reference -- --write

  --write   makes docs/events.md and the page /docs/events: every type of event that the audit and webhooks show, with a
            sentence and its fields
`;

const root = join(import.meta.dirname, '../..');

await runTool('event-reference', usage, run);

async function run([flag, ...others]: string[]): Promise<number | null> {
  if (flag === undefined) return null;
  const unknown = [flag, ...others].find((word) => word !== '--write');
  if (unknown !== undefined) throw unknownWord('event-reference', unknown, ['--write']);
  const kinds = listEvents(join(root, 'test/fixtures/records'));
  writeFileSync(join(root, 'docs/events.md'), describeEvents(kinds));
  writeFileSync(join(root, 'src/http/docs/event-reference.json'), `${JSON.stringify(kinds, null, 2)}\n`);
  return 0;
}
