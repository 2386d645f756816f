import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Admission } from '#exchange/admission.ts';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import { ResponseRetention } from '#responses/response-retention.ts';
import type { ResponseStore } from '#responses/response-store.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { InMemoryResponseStore } from '#test/support/fakes/in-memory-response-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { ConversationModel, perform, stepOf } from './support/conversation-model.ts';

const choice = fc.record({ kind: fc.nat(99), first: fc.nat(), second: fc.nat() });
const choices = fc.array(choice, { minLength: 1, maxLength: 60 });

function storedAsInTheModel(place: string, numRuns: number, open: () => Promise<ResponseStore>): void {
  it(`on ${place}`, async function () {
    this.timeout(120_000);
    const store = await open();
    const responses = new StoredResponses({
      admission: new Admission(),
      store,
      keys: new InMemorySubjectKeys(),
      ttlDays: 30,
      quotaBytes: 1e9,
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(choices, async (all) => {
        runs += 1;
        const model = new ConversationModel(`project${runs}`);
        for (const [index, chosen] of all.entries()) {
          const step = stepOf(model, chosen, `r${index}`);
          await perform(responses, model.projectId, step);
          model.apply(step);
        }
        await responses.removal.idle();
        await new ResponseRetention({ responses }).keepLimits(new AbortController().signal);
        await model.expectStored(responses);
      }),
      { numRuns },
    );
    await responses.close();
  });
}

describe('after any deletions and erasures, all that can be reached is stored and nothing else', () => {
  const folder = temporaryFolder();
  const writer = new SqliteWriter({ onFatal: assert.fail });
  after(async () => {
    await writer.close();
    rmSync(folder.path, { recursive: true });
  });
  storedAsInTheModel('SQLite', 40, async () =>
    openSqliteResponseStore({ file: join(folder.path, 'responses.db'), writer }),
  );
  storedAsInTheModel('memory', 100, async () => new InMemoryResponseStore());
});

describeOnMongoDb('after any deletions and erasures, all that can be reached is stored and nothing else', (server) => {
  storedAsInTheModel('MongoDB', 5, async () =>
    openMongoDbResponseStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
  );
});
