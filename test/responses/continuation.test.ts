import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Admission } from '#exchange/admission.ts';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import type { ResponseStore } from '#responses/response-store.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const noLimit = { maxBytes: Number.MAX_SAFE_INTEGER, reserve: () => true };
const charactersOfTurn = 2_000;
/** About as much memory as one turn takes. */
const bytesOfTurn = 15_000;

/** What is done to a project's conversations, one after the other. */
const actions = fc.array(
  fc.record({
    /** The response that is continued, of those that are there; a new conversation if there are fewer. */
    after: fc.nat(12),
    deletes: fc.boolean(),
    otherProject: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
);

interface MadeResponse {
  readonly id: string;
  /** The ids of the turns before it, and its own. */
  readonly chain: ReadonlyArray<string>;
}

/**
 * @param runs how many lists of actions are tried in a test that is not long
 * @param open opens the same store each time
 */
function canBeContinued(place: string, runs: number, open: () => Promise<ResponseStore>): void {
  describe(`any stored conversation on ${place}`, () => {
    let store: ResponseStore;
    before(async () => {
      store = await open();
    });
    after(() => store.close());

    it('can be continued where a thread has to read it', async function () {
      this.timeout(120_000);
      const responses = newResponses(store, 0);
      const large = 300 * 1024;
      let previous: MadeResponse | null = null;
      for (let index = 0; index < 70; index += 1) {
        const characters = index === 30 ? large : 10;
        previous = await add(responses, { project: 'long', previous, id: `r${index}`, characters });
      }
      assert.ok(previous !== null);
      const read = await responses.turns.conversation('long', previous.id, noLimit);
      assert.ok(Array.isArray(read));
      assert.deepEqual(
        read.map(({ outline }) => outline.id),
        previous.chain,
      );
      const inputs = read.map(({ text }) => JSON.parse(String(text.input)).length);
      assert.deepEqual(
        inputs,
        previous.chain.map((_, index) => (index === 30 ? large : 10)),
      );
      const found = await responses.turns.find('long', 'r30');
      assert.equal(JSON.parse(String(found?.text.response)).id, 'r30');
      await responses.turns.close();
    });

    for (const turns of [0, 1, 1_000])
      itInRounds(`can be continued with memory for ${turns} turns`, { few: runs, many: 20 }, async function (numRuns) {
        this.timeout(120_000);
        let round = 0;
        await fc.assert(
          fc.asyncProperty(actions, async (all) => {
            round += 1;
            const responses = newResponses(store, turns * bytesOfTurn);
            const made = new Map<string, MadeResponse[]>();
            for (const [index, { after, deletes, otherProject }] of all.entries()) {
              const project = `${turns}-${numRuns}-${round}-${otherProject}`;
              const known = made.get(project) ?? [];
              made.set(project, known);
              const previous = known[after] ?? null;
              const response = await add(responses, { project, previous, id: `r${index}` });
              known.push(response);
              if (!deletes || previous === null) continue;
              assert.ok(await responses.delete(project, previous.id));
              known.splice(after, 1);
            }
            for (const [project, known] of made)
              for (const { id, chain } of known) {
                const read = await responses.turns.conversation(project, id, noLimit);
                assert.ok(Array.isArray(read), `${id} of ${chain}: ${read}`);
                assert.deepEqual(
                  read.map(({ outline }) => outline.id),
                  chain,
                );
              }
          }),
          { numRuns },
        );
      });
  });
}

function newResponses(store: ResponseStore, recentTurnBytes: number): StoredResponses {
  return new StoredResponses({
    admission: new Admission(),
    store,
    keys: new InMemorySubjectKeys(),
    ttlDays: 30,
    quotaBytes: 1_000_000_000,
    recentTurnBytes,
  });
}

interface MadeTurn {
  readonly project: string;
  readonly previous: MadeResponse | null;
  readonly id: string;
  readonly characters?: number;
}

async function add(
  responses: StoredResponses,
  { project, previous, id, characters = charactersOfTurn }: MadeTurn,
): Promise<MadeResponse> {
  const last = previous === null ? null : await responses.turns.conversation(project, previous.id, noLimit);
  assert.ok(last === null || Array.isArray(last), `${previous?.chain}: ${last}`);
  const added = await responses.add({
    projectId: project,
    id,
    inputText: JSON.stringify('x'.repeat(characters)),
    responseText: JSON.stringify({ id, status: 'completed', output: [] }),
    provider: null,
    previous: last?.at(-1)?.outline ?? null,
    referenced: [],
    names: [],
  });
  assert.equal(added, 'stored');
  return { id, chain: [...(previous?.chain ?? []), id] };
}

describe('Stored conversations', () => {
  const folder = temporaryFolder();
  const writer = new SqliteWriter({ onFatal: assert.fail });
  after(async () => {
    await writer.close();
    rmSync(folder.path, { recursive: true });
  });
  canBeContinued('SQLite', 15, async () =>
    openSqliteResponseStore({ file: join(folder.path, 'responses.db'), writer }),
  );
});

describeOnMongoDb('stored conversations on MongoDB', (server) => {
  canBeContinued('MongoDB', 2, async () =>
    openMongoDbResponseStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
  );
});
