import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '#cli/shared/command-line.ts';
import { describeEvents } from './events/describe-events.ts';
import { unknownWord } from './shared/command-line.ts';

const usage = `Usage: npm run event-reference -- --write

  --write   makes docs/events.md: every type of event that the audit and webhooks show, with a sentence and its fields
`;

const root = join(import.meta.dirname, '../..');

await runTool('event-reference', usage, run);

async function run([flag, ...others]: string[]): Promise<number | null> {
  if (flag === undefined) return null;
  const unknown = [flag, ...others].find((word) => word !== '--write');
  if (unknown !== undefined) throw unknownWord('event-reference', unknown, ['--write']);
  writeFileSync(join(root, 'docs/events.md'), describeEvents(join(root, 'test/fixtures/records')));
  return 0;
}
