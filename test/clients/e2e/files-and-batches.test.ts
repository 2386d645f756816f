import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import OpenAI, { ConflictError, NotFoundError, toFile } from 'openai';
import { GatewayScenario } from '../../e2e/support/gateway-scenario.ts';
import { newKey, newProject } from '../../e2e/support/tenants.ts';
import { type Behaviour, completion, error, json } from '../../gateway/support/fake-provider.ts';
import { poll } from '../../support/service/service-process.ts';
import { patientReads } from '../../support/service/shared-service.ts';

/** The limit of a wait. It only keeps a test from hanging. */
const settleTimeoutMs = 60_000;

/** `test/e2e` checks how files and batches behave. These tests check that OpenAI’s own client works with them. */
describe('files and batches, by the official openai client', function () {
  this.timeout(180_000);
  let scenario: GatewayScenario;
  let client: OpenAI;
  let requestCount: number;

  const countingFetch: typeof fetch = (url, init) => {
    requestCount += 1;
    return fetch(url, init);
  };

  before(async () => {
    scenario = await GatewayScenario.begin(patientReads);
  });
  after(() => scenario.end());
  beforeEach(async () => {
    requestCount = 0;
    const { client: admin } = scenario.service;
    const { key } = await newKey(admin, await newProject(admin), 'project');
    client = new OpenAI({ apiKey: key, baseURL: scenario.baseURL, fetch: countingFetch });
  });

  const upload = async (content: Buffer | string, name: string, more: Partial<OpenAI.FileCreateParams> = {}) =>
    client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'user_data', ...more });
  const idsOf = async (items: AsyncIterable<{ readonly id: string }>) => {
    const ids: string[] = [];
    for await (const { id } of items) ids.push(id);
    return ids;
  };

  describe('files', () => {
    it('uploads, reads, downloads and deletes a file', async () => {
      const content = randomBytes(300_000);
      const file = await upload(content, 'Grüße "1".bin');
      assert.deepEqual([file.bytes, file.filename, file.purpose], [content.length, 'Grüße "1".bin', 'user_data']);
      assert.deepEqual(await client.files.retrieve(file.id), file);
      assert.equal((await client.files.waitForProcessing(file.id)).status, 'processed');
      const answer = await client.files.content(file.id);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
      assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: 'file', deleted: true });
      for (const call of ['retrieve', 'content', 'delete'] as const)
        await assert.rejects(client.files[call](file.id), NotFoundError);
    });

    it('lists files by page, order and purpose', async () => {
      const first = await upload('1', 'a.txt');
      const second = await upload('2', 'b.jsonl', { purpose: 'batch' });
      const third = await upload('3', 'c.txt');
      assert.deepEqual(await idsOf(client.files.list({ limit: 1 })), [third.id, second.id, first.id]);
      assert.deepEqual(await idsOf(client.files.list({ order: 'asc' })), [first.id, second.id, third.id]);
      assert.deepEqual(await idsOf(client.files.list({ purpose: 'batch' })), [second.id]);
    });

    it('uploads an empty file that expires', async () => {
      const file = await upload('', 'empty.txt', { expires_after: { anchor: 'created_at', seconds: 3_600 } });
      assert.deepEqual([file.bytes, file.expires_at], [0, file.created_at + 3_600]);
    });
  });

  describe('batches', () => {
    const begin = async (ids: ReadonlyArray<string>) => {
      const lines = ids.map((id) =>
        JSON.stringify({
          custom_id: id,
          method: 'POST',
          url: '/v1/chat/completions',
          body: { model: 'alone', messages: [{ role: 'user', content: id }] },
        }),
      );
      return client.batches.create({
        input_file_id: (await upload(lines.join('\n'), 'input.jsonl', { purpose: 'batch' })).id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        metadata: { run: 'one' },
      });
    };
    const ended = async (id: string): Promise<OpenAI.Batch> => {
      const batch = await poll(async () => {
        const now = await client.batches.retrieve(id);
        return ['completed', 'failed', 'expired', 'cancelled'].includes(now.status) ? now : null;
      }, settleTimeoutMs);
      return batch ?? assert.fail('the batch did not end');
    };
    const linesOf = async (fileId: string | undefined) => {
      const text = await (await client.files.content(fileId ?? assert.fail('no file'))).text();
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const refusingBad: Behaviour = (res, seen) =>
      seen.body.includes('bad') ? error(400, 'bad_words')(res, seen) : json(completion('heard'))(res, seen);

    it('runs a batch, and reads its answers and refusals', async () => {
      scenario.primary.answers(refusingBad);
      const { id, metadata } = await begin(['good', 'bad', 'better']);
      assert.deepEqual(metadata, { run: 'one' });
      const batch = await ended(id);
      assert.deepEqual([batch.status, batch.request_counts], ['completed', { total: 3, completed: 2, failed: 1 }]);
      const output = await linesOf(batch.output_file_id);
      assert.deepEqual(output.map((line) => line.custom_id).toSorted(), ['better', 'good']);
      for (const { response } of output) assert.equal(response.body.choices[0].message.content, 'heard');
      const [refused] = await linesOf(batch.error_file_id);
      assert.deepEqual([refused.custom_id, refused.response.status_code], ['bad', 400]);
      const outputs = await idsOf(client.files.list({ purpose: 'batch_output' as OpenAI.FilePurpose }));
      assert.deepEqual(outputs.toSorted(), [batch.output_file_id, batch.error_file_id].toSorted());
    });

    it('lists batches, and cancels one that runs, but not one that is complete', async () => {
      // All lines together take far longer than the test needs to cancel.
      scenario.primary.answers(async (res, seen) => {
        await setTimeout(600);
        return json(completion('heard'))(res, seen);
      });
      const first = await begin(['a']);
      const second = await begin(Array.from({ length: 400 }, (_, index) => `line-${index}`));
      assert.deepEqual(await idsOf(client.batches.list({ limit: 1 })), [second.id, first.id]);
      assert.equal((await client.batches.cancel(second.id)).status, 'cancelling');
      assert.equal((await ended(second.id)).status, 'cancelled');
      assert.equal((await ended(first.id)).status, 'completed');
      const before = requestCount;
      // The client repeats a 409 unless the answer says that this is in vain.
      await assert.rejects(client.batches.cancel(first.id), ConflictError);
      assert.equal(requestCount, before + 1);
      await assert.rejects(client.batches.cancel('batch_unknown000'), NotFoundError);
    });
  });
});
