import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseRetention } from '#responses/response-retention.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { WatchedProcess } from '#test/support/service/watched-process.ts';
import { ConversationModel, type ConversationStep } from './support/conversation-model.ts';
import { openResponses, type StoresPlace } from './support/stores-of-responses.ts';
import type { StoringLine, StoringWork } from './support/storing-process.ts';

const rounds = { few: 3, many: 60 };
const maxWorkMs = 400;
const projectId = 'project1';
/** Longer than an erasure is in the list. */
const laterMs = 5 * 60_000;

/** Kills a process while it stores, deletes and erases, again and again. */
async function killWhileStoring(place: StoresPlace, kills: number): Promise<void> {
  let done: ReadonlyArray<ConversationStep> = [];
  const folder = temporaryFolder();
  for (let seed = 0; seed < kills; seed += 1) {
    const before = done;
    const output = join(folder.path, `${seed}.log`);
    const { steps, open } = await killedSteps({ place, output, projectId, seed, before });
    const { responses, close } = openResponses(place, () => Date.now() + laterMs);
    const model = new ConversationModel(projectId);
    for (const step of [...before, ...steps]) model.apply(step);
    const settled = open === null ? null : await model.settle(responses, open);
    await responses.removal.idle();
    await new ResponseRetention({ responses }).keepLimits(new AbortController().signal);
    await model.expectStored(responses);
    await close();
    done = [...before, ...steps, ...(settled === true && open !== null ? [open] : [])];
  }
  folder.remove();
}

/** @returns the steps that were answered, and the one that was not */
async function killedSteps(
  work: StoringWork,
): Promise<{ readonly steps: ReadonlyArray<ConversationStep>; readonly open: ConversationStep | null }> {
  const file = join(import.meta.dirname, 'support/storing-process.ts');
  const input = `${work.output}.json`;
  writeFileSync(input, JSON.stringify(work));
  const child = new WatchedProcess({ file, args: [input], environment: {} });
  const written = () => (existsSync(work.output) ? readFileSync(work.output, 'utf8') : '');
  await eventually(() => written().includes('ends') || child.hasEnded);
  await sleep(Math.random() * maxWorkMs);
  child.send('SIGKILL');
  await child.ended;
  assert.equal(child.stderr, '');
  const lines = written()
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): StoringLine => JSON.parse(line));
  const begun = lines.flatMap((line) => ('begins' in line ? [line.begins] : []));
  const ended = lines.length - begun.length;
  return { steps: begun.slice(0, ended), open: begun[ended] ?? null };
}

describe('stored responses after kill -9', function () {
  this.timeout(120_000);
  itInRounds('are whole and nothing is left of others, on SQLite', rounds, async (kills) => {
    const folder = temporaryFolder();
    await killWhileStoring({ folder: folder.path }, kills);
    folder.remove();
  });
});

describeOnMongoDb('stored responses after kill -9', (server) => {
  itInRounds('are whole and nothing is left of others, on MongoDB', rounds, (kills) =>
    killWhileStoring({ url: server.newUrl() }, kills),
  );
});
