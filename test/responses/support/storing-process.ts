import { appendFileSync, readFileSync } from 'node:fs';
import { Random } from '#test/support/run/random.ts';
import { ConversationModel, type ConversationStep, perform, stepOf } from './conversation-model.ts';
import { openResponses, type StoresPlace } from './stores-of-responses.ts';

/** What a process that stores, deletes and erases begins with. Its only argument names the file with it. */
export interface StoringWork {
  readonly place: StoresPlace;
  /** The file that gets its lines. */
  readonly output: string;
  readonly projectId: string;
  readonly seed: number;
  /** The steps that were done before, in order. */
  readonly before: ReadonlyArray<ConversationStep>;
}

/** A line of its output, which a killed process has written. It is written before a step and after it, so that a killed process leaves one step open. */
export type StoringLine = { readonly begins: ConversationStep } | { readonly ends: true };

const { place, output, projectId, seed, before } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as StoringWork;
const { responses } = openResponses(place);
const model = new ConversationModel(projectId);
for (const step of before) model.apply(step);
const random = new Random(seed);
for (let number = 0; ; number += 1) {
  const choice = { kind: random.below(100), first: random.below(1_000), second: random.below(1_000) };
  const step = stepOf(model, choice, `r${seed}-${number}`);
  print({ begins: step });
  await perform(responses, projectId, step);
  model.apply(step);
  print({ ends: true });
}

function print(line: StoringLine): void {
  appendFileSync(output, `${JSON.stringify(line)}\n`);
}
