import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  createInvoke,
  type Entrance,
  type Invocation,
  type InvokeDependencies,
  unservedRoute,
} from '#application/operations/invoke.ts';
import {
  type AnyOperation,
  type Operation,
  put,
  type StreamingOperation,
  type StreamReport,
} from '#application/operations/operation.ts';
import { createRoutes, type OperationRoute } from '#application/operations/registry.ts';
import { cuid } from '#domain/codecs/id.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';
import { Admission } from '#exchange/admission.ts';
import { type Body, MemoryBody, noInput } from '#exchange/body.ts';
import type { ByteLimits } from '#exchange/byte-budget.ts';
import { ClientDisconnectedError, Held } from '#exchange/held.ts';
import { currentOwner, serviceOwner } from '#shared/async/fair-queue.ts';
import { text } from '#shared/codecs/text.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { requestOf } from '#test/support/harness/request-of.ts';

const refusedWith = (code: FailureCode): E.Either<Failure, never> => E.left(failure(code, code));

const common = {
  summary: 'Change a flow',
  plane: 'control',
  group: 'Flows',
  scope: 'flows:write',
  http: put('/v1/flows/:flowId/name'),
  input: t.type({ flowId: cuid, name: text({ min: 1, max: 5 }) }),
  output: t.UnknownRecord,
  failures: ['flow-not-found'],
  paged: false,
  hasRevision: false,
  example: {},
} as const;

/** A request and the dependencies that handle it. */
interface Scenario {
  readonly dependencies: InvokeDependencies;
  readonly operation: Operation;
  readonly entrance: Entrance;
  readonly headers: IncomingHttpHeaders;
  readonly readInput: Body['readInput'];
  readonly path: 'known' | 'unknown' | 'other-method';
  readonly flowId: string;
}

/** Changes a request so that one stage refuses it. */
interface Fault {
  readonly stage: string;
  readonly code: FailureCode;
  readonly in: (scenario: Scenario) => Scenario;
}

const inDependencies = (change: Partial<InvokeDependencies>) => (scenario: Scenario) => ({
  ...scenario,
  dependencies: { ...scenario.dependencies, ...change },
});
const inOperation = (change: Partial<Operation>) => (scenario: Scenario) => ({
  ...scenario,
  operation: { ...scenario.operation, ...change },
});
const inScenario = (change: Partial<Scenario>) => (scenario: Scenario) => ({ ...scenario, ...change });

const withBody = (name: string) => async () =>
  E.right({ ...noInput, fields: { flowId: ids.flow, name }, bodyHash: 'hash' });

/** Whose project has one unread byte of an answer. */
function withAnswersOf(limits: ByteLimits): Admission {
  const admission = new Admission({ limits: { bytes: { answer: limits } } });
  admission.budgets.answer.hold(callerOf('project').projectId).resize(1);
  return admission;
}

/** Every refusal in the order of the stages. A request with two successive faults is refused for the earlier one. */
const faults: ReadonlyArray<Fault> = [
  {
    stage: '1. authentication, no key',
    code: 'key-required',
    in: (scenario) => ({ ...scenario, entrance: { ...scenario.entrance, presentedKey: null } }),
  },
  {
    stage: '1. authentication, a wrong key',
    code: 'key-invalid',
    in: inDependencies({ authenticate: async () => null }),
  },
  {
    stage: '2. rate limit',
    code: 'rate-limited',
    in: inDependencies({
      admission: {
        enter: async () => ({ refusal: failure('rate-limited', 'Later.'), headers: ['RateLimit', 'r=0'] }),
      },
    }),
  },
  {
    stage: '2. answers of the project in flight',
    code: 'too-many-answer-bytes',
    in: inDependencies({ admission: withAnswersOf({ maxBytes: 2, maxBytesPerProject: 1 }) }),
  },
  {
    stage: '2. answers of the node in flight',
    code: 'answers-full',
    in: inDependencies({ admission: withAnswersOf({ maxBytes: 1, maxBytesPerProject: 2 }) }),
  },
  { stage: '3. unknown path', code: 'path-not-found', in: (scenario) => ({ ...scenario, path: 'unknown' }) },
  { stage: '3. method', code: 'method-not-allowed', in: (scenario) => ({ ...scenario, path: 'other-method' }) },
  { stage: '3. id', code: 'flow-not-found', in: (scenario) => ({ ...scenario, flowId: 'no-cuid' }) },
  {
    stage: '4. reach',
    code: 'project-not-found',
    in: inOperation({ loadSubject: async () => refusedWith('project-not-found') }),
  },
  {
    stage: '5. scope',
    code: 'scope-required',
    in: inDependencies({ authenticate: async () => ({ ...callerOf('project'), scopes: new Set() }) }),
  },
  {
    stage: '6. headers',
    code: 'invalid-header',
    in: inScenario({ headers: { 'switchyard-min-position': 'first' } }),
  },
  {
    stage: '6. body',
    code: 'unsupported-media-type',
    in: inScenario({ readInput: async () => refusedWith('unsupported-media-type') }),
  },
  { stage: '6. input', code: 'invalid-input', in: inScenario({ readInput: withBody('too long a name') }) },
  {
    stage: '7 to 12. what the operation refuses',
    code: 'precondition-failed',
    in: inOperation({ execute: async () => refusedWith('precondition-failed') }),
  },
];

describe('invoke', () => {
  let steps: string[];
  let lines: string[];
  let scenario: Scenario;

  beforeEach(() => {
    steps = [];
    lines = [];
    const log = (_: unknown, message?: string) => void lines.push(message ?? '');
    scenario = {
      dependencies: {
        authenticate: async () => callerOf('project'),
        admission: null,
        metrics: { command: (name) => void steps.push(`metrics of ${name}`) },
        logger: { warn: log, error: log } as InvokeDependencies['logger'],
      },
      operation: {
        ...common,
        name: 'rename_flow',
        kind: 'command',
        loadSubject: async () => {
          steps.push('loadSubject');
          return E.right('the flow');
        },
        execute: async ({ subject, input, bodyHash }) => {
          steps.push('execute');
          return E.right({ status: 200, body: { subject, input: input as { name: string }, bodyHash } });
        },
      },
      entrance: { presentedKey: 'key', sessionToken: null, keyFault: null, takePlace: null },
      headers: {},
      readInput: () => {
        steps.push('readInput');
        return withBody('Bob')();
      },
      path: 'known',
      flowId: ids.flow,
    };
  });

  function send({
    dependencies,
    operation,
    entrance,
    headers,
    readInput,
    path,
    flowId,
  }: Scenario): Promise<Invocation> {
    const [route] = createRoutes([operation as AnyOperation]) as [OperationRoute];
    const invoke = createInvoke(dependencies);
    const body = new MemoryBody(Buffer.alloc(0), readInput);
    const { caller: _, ...request } = requestOf({
      headers,
      body,
      parameters: { flowId },
      held: new Held(serviceOwner),
    });
    if (path === 'known') return invoke(E.right(route), request, entrance);
    const allowedMethods = path === 'unknown' ? [] : ['GET', 'PUT'];
    return invoke(E.left(unservedRoute('POST', allowedMethods)), request, entrance);
  }

  const codeOf = ({ outcome }: Invocation) => (E.isLeft(outcome) ? outcome.left.code : 'answered');

  it('returns the response of an operation that no stage refuses', async () => {
    const { outcome, keyId, limitHeaders } = await send(scenario);
    const body = { subject: 'the flow', input: { flowId: ids.flow, name: 'Bob' }, bodyHash: 'hash' };
    assert.deepEqual(outcome, E.right({ status: 200, body }));
    assert.deepEqual([keyId, limitHeaders], [callerOf('project').keyId, []]);
    assert.deepEqual(steps, ['loadSubject', 'readInput', 'execute', 'metrics of rename_flow']);
  });

  it('does the work of a request for the project of its key', async () => {
    const owners: string[] = [];
    const note = async <Result>(result: Result) => {
      await Promise.resolve();
      owners.push(currentOwner());
      return result;
    };
    const noted = inOperation({
      loadSubject: () => note(E.right('the flow')),
      execute: () => note(E.right({ status: 200, body: {} })),
    });
    await send(noted(scenario));
    assert.deepEqual(owners, [ids.project, ids.project]);
    assert.equal(currentOwner(), serviceOwner);
  });

  for (const { stage, code, in: put } of faults) {
    it(`refuses with ${code} at the stage "${stage}"`, async () => {
      assert.equal(codeOf(await send(put(scenario))), code);
    });
  }

  for (const [index, earlier] of faults.slice(0, -1).entries()) {
    const later = faults[index + 1] as Fault;
    it(`refuses at the stage "${earlier.stage}" before "${later.stage}"`, async () => {
      // The earlier fault is applied last: it remains when both change the same member.
      assert.equal(codeOf(await send(earlier.in(later.in(scenario)))), earlier.code);
    });
  }

  it('does not load the body of a request that is refused before its input', async () => {
    for (const { in: put } of faults.slice(0, 11)) await send(put(scenario));
    assert.ok(!steps.includes('readInput'));
  });

  it('gives the rate limit and the key of a refused request to the adapter', async () => {
    const limited = faults.find(({ code }) => code === 'rate-limited') as Fault;
    const { keyId, limitHeaders } = await send(limited.in(scenario));
    assert.deepEqual([keyId, limitHeaders], [callerOf('project').keyId, ['RateLimit', 'r=0']]);
  });

  it('turns an error of an operation into a failure, and logs it', async () => {
    const down = inOperation({ execute: () => Promise.reject(new UnavailableError('The log is down.')) });
    assert.equal(codeOf(await send(down(scenario))), 'unavailable');
    const broken = inOperation({ loadSubject: () => Promise.reject(new Error('secret')) });
    const { outcome } = await send(broken(scenario));
    assert.ok(E.isLeft(outcome) && outcome.left.code === 'internal-error' && !outcome.left.detail.includes('secret'));
    assert.deepEqual(lines, ['unavailable', 'internal error']);
  });

  it('returns no response when the client has disconnected', async () => {
    const gone = inScenario({ readInput: () => Promise.reject(new ClientDisconnectedError('The body ended early.')) });
    assert.deepEqual((await send(gone(scenario))).outcome, E.right(null));
    assert.deepEqual(lines, []);
  });

  it('gives the request to a streaming operation once the key has the scope', async () => {
    const report: StreamReport = {
      kind: 'relayed',
      status: null,
      code: null,
      model: 'large',
      target: 'p/x',
      attempts: 1,
    };
    const streaming: StreamingOperation = {
      ...common,
      name: 'stream_flow',
      kind: 'streaming',
      consumes: 'application/json',
      produces: [],
      relay: async ({ caller }) => {
        steps.push(`relay for ${caller.keyId}`);
        return report;
      },
    };
    const sent = { ...scenario, operation: streaming as unknown as Operation };
    assert.deepEqual((await send(sent)).outcome, E.right(report));
    assert.deepEqual(steps, [`relay for ${callerOf('project').keyId}`]);
    const withoutScope = (faults.find(({ stage }) => stage === '5. scope') as Fault).in(sent);
    assert.equal(codeOf(await send(withoutScope)), 'scope-required');
    assert.equal(steps.length, 1);
  });
});
