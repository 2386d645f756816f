import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { compose, type Service } from '#app/compose.ts';
import { readConfig } from '#app/config.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { Caller } from '#domain/shared/access.ts';
import { noInput } from '#exchange/body.ts';
import { EncodedJson, type JsonObject } from '#shared/json/json.ts';
import { invokeOperation, type OperationInvocation } from '#test/support/harness/invoke-operation.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { adminKey, temporaryFolder } from '#test/support/service/service-process.ts';
import { type CreatedIds, type Expected, FlowModel, type Step } from './support/flow-model.ts';

const stepsOfRun = 40;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'create flow',
    'patch flow',
    'patch flow',
    'change tier',
    'add version',
    'add version',
    'add version',
    'tag version',
    'activate version',
    'activate version',
    'delete version',
    'delete version',
    'delete flow',
  ),
  flow: fc.nat(2),
  version: fc.nat(5),
  // Few values, so that equal changes and repeated requests, with the same and with another body, are common.
  name: fc.constantFrom('a', 'b'),
  description: fc.constantFrom(undefined, null, 'd'),
  tag: fc.constantFrom('v1', 'x'),
  tier: fc.constantFrom('standard', 'pro'),
  flowSchema: fc.constantFrom(null, 1, { a: [1, { b: null }] }),
  idempotencyKey: fc.option(fc.constantFrom('k1', 'k2'), { freq: 2 }),
  ifMatch: fc.constantFrom('none', 'none', 'current', 'stale'),
});

describe('operations on flows and versions', () => {
  const folder = temporaryFolder();
  let service: Service;
  let caller: Caller;

  before(async function () {
    this.timeout(180_000);
    const config = readConfig({ DATA_DIR: folder.path, BOOTSTRAP_API_KEY: adminKey });
    service = await compose(config, {
      log: pino({ level: 'silent' }),
      printAdminKey: () => undefined,
      onFatal: (error) => {
        throw error;
      },
    });
    const resolved = await service.keys.resolve(adminKey, 'command');
    assert.ok(resolved);
    caller = resolved;
  });

  after(async () => {
    await service?.close();
    folder.remove();
  });

  async function ask(
    name: string,
    parameters: Readonly<Record<string, string>>,
    more: OperationInvocation & { readonly body?: JsonObject } = {},
  ): Promise<E.Either<{ code: string }, OperationResult>> {
    const operation = service.operations.find((candidate) => candidate.name === name);
    assert.ok(operation?.kind === 'command' || operation?.kind === 'query', name);
    const { body = {}, ...request } = more;
    const fields = { ...body, ...parameters };
    return invokeOperation(operation, {
      caller,
      parameters,
      requestTarget: `${name} ${Object.values(parameters).join(' ')}`,
      loadBody: async () => E.right({ ...noInput, fields, bodyHash: JSON.stringify(body) }),
      ...request,
    });
  }

  /** An answer in the model's form. */
  function modelled(answer: E.Either<{ code: string }, OperationResult>): Expected {
    if (E.isLeft(answer)) return { refused: answer.left.code };
    const { status, body, revision } = answer.right;
    return { status, body: body instanceof EncodedJson ? body.parse() : body, revision };
  }

  async function createdIds({ body }: Expected): Promise<CreatedIds> {
    const id = typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : '';
    const { body: list } = modelled(await ask('list_flow_versions', { flowId: id }));
    return { id, firstVersionId: (list as { versions: Array<{ id: string }> } | undefined)?.versions[0]?.id ?? '' };
  }

  async function expectReads(projectId: string, model: FlowModel): Promise<void> {
    const list = modelled(await ask('list_flows', { projectId }));
    assert.deepEqual(timeless((list.body as { flows: unknown }).flows), model.flows());
    for (const flow of model.everyFlow()) {
      const read = modelled(await ask('get_flow', { flowId: flow.id }));
      assert.deepEqual(timeless(read), model.readFlow(flow));
      const versions = modelled(await ask('list_flow_versions', { flowId: flow.id }));
      assert.deepEqual(timeless(versions), model.listVersions(flow));
      for (const { id } of flow.versions) {
        const version = modelled(await ask('get_flow_version', { versionId: id }));
        assert.deepEqual(timeless(version), model.readVersion(flow, id));
      }
    }
  }

  itInRounds(
    'answers and reads as a simple model does, after random commands',
    { few: 10, many: 200 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: stepsOfRun, size: 'max' }), async (steps) => {
          const project = await ask('create_project', {}, { body: { name: 'Model' } });
          const { id: projectId } = modelled(project).body as { id: string };
          const model = new FlowModel(projectId);
          for (const next of steps) {
            const request = model.request(next);
            const { name, parameters, body, ifMatch, idempotencyKey } = request;
            const answer = modelled(await ask(name, parameters, { body, ifMatch, idempotencyKey }));
            assert.deepEqual(
              timeless(answer),
              model.expected(request, await createdIds(answer)),
              JSON.stringify(request),
            );
            model.checkRepeated(request, answer);
          }
          await expectReads(projectId, model);
        }),
        { numRuns, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false },
      );
    },
  );
});

/** Removes the times, which the model does not predict. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member) => (/^(created|updated)At$/.test(key) ? undefined : member)));
}
