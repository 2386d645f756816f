import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unknownId } from '#test/e2e/support/expect.ts';
import { composedService } from '#test/e2e/support/running-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import { embeddedStores } from '#test/support/service/engines.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { type AskedService, AskingProject, callLimits, fillConnections, limits } from './asking-project.ts';
import { BatchOfLines } from './batch-of-lines.ts';
import { type Answer, type Caller, chat, mcp, type Reason, rest } from './callers.ts';
import type { Address, Leave } from './send.ts';

type CallerName = 'rest' | 'chat' | 'mcp' | 'socket' | 'line';

/** A caller that never gets a refusal has no place for it. */
const none = null;

/**
 * What each caller can be refused for, and its place in the order of the caller's refusals: of two that a request earns,
 * the one with the smaller number is answered. `callers.ts` and `asking-project.ts` say how a request earns each.
 */
const table: ReadonlyArray<readonly [reason: Reason, answer: Answer, ...places: ReadonlyArray<number | null>]> = [
  // reason, answer, REST, chat, MCP, control socket, line of a batch
  ['key', '401 key-invalid', 1, 1, 1, none, 1],
  ['rate', '429 rate-limited', 2, 2, 2, none, none],
  ['place', '503 connections-full', 3, 3, 3, none, none],
  ['answers', '429 too-many-answer-bytes', 4, 4, 4, none, 2],
  ['path', '405 method-not-allowed', 5, 5, 10, 1, none],
  ['reach', '404 flow-not-found', 6, none, 11, 2, none],
  ['scope', '403 scope-required', 7, 6, 12, none, none],
  ['calls', '429 too-many-calls', none, 7, none, none, 3],
  ['header', '422 invalid-header', 8, none, 9, 3, none],
  ['media', '415 unsupported-media-type', 9, 8, 5, 4, none],
  ['size', '413 body-too-large', 10, 9, 6, 5, 4],
  ['bytes', '429 too-many-body-bytes', 11, 10, 7, 6, 6],
  ['syntax', '400 malformed-json', 12, 11, 8, 7, none],
  ['input', '422 invalid-input', 13, 12, 13, 8, 5],
  ['model', '404 model-not-found', none, 13, none, none, 7],
  ['remembered', '422 idempotency-key-reused', 14, none, 14, 9, none],
  ['replay', '200 done', 14, none, 14, 9, none],
  ['deleted', '404 flow-not-found', 15, none, 15, 10, none],
  ['revision', '412 precondition-failed', 16, none, 16, 11, none],
  ['decision', '404 agent-profile-not-found', 17, none, 17, 12, none],
];
const callerNames: ReadonlyArray<CallerName> = ['rest', 'chat', 'mcp', 'socket', 'line'];

/** The answers that one caller gets in another form. */
const answersOf: Partial<Record<CallerName, Partial<Record<Reason, Answer>>>> = {
  chat: { syntax: '422 json-invalid' },
  mcp: { path: '404 flow-not-found', header: '422 invalid-input', syntax: '400 -32700' },
};

/** Reasons that one request cannot have, because they say different things of the same. */
const apart: ReadonlyArray<readonly [Reason, Reason]> = [
  // Of the flow, and of the key that its change is remembered with.
  ['reach', 'deleted'],
  ['reach', 'remembered'],
  ['reach', 'replay'],
  ['scope', 'remembered'],
  ['scope', 'replay'],
  // Of the body.
  ['syntax', 'input'],
  ['syntax', 'model'],
  ['syntax', 'decision'],
  ['replay', 'remembered'],
  ['replay', 'size'],
  ['replay', 'bytes'],
  ['replay', 'syntax'],
  ['replay', 'input'],
  ['replay', 'decision'],
];
/** The reasons in the arguments of a tool: one id, and nothing in a message that cannot be parsed. */
const ofArguments: ReadonlyArray<Reason> = [
  'path',
  'reach',
  'scope',
  'header',
  'remembered',
  'replay',
  'deleted',
  'revision',
];
const apartInMessages: ReadonlyArray<readonly [Reason, Reason]> = [
  ['path', 'reach'],
  ['path', 'remembered'],
  ['path', 'replay'],
  ['path', 'deleted'],
  ...ofArguments.map((reason) => ['syntax', reason] as const),
];

function canMeet(caller: CallerName, one: Reason, other: Reason): boolean {
  const excluded = caller === 'mcp' ? [...apart, ...apartInMessages] : apart;
  return !excluded.some((pair) => pair.includes(one) && pair.includes(other));
}

/** The reasons of a caller in its order. */
function orderOf(caller: CallerName): ReadonlyArray<Reason> {
  const column = callerNames.indexOf(caller);
  return table
    .flatMap(([reason, , ...places]) => (places[column] == null ? [] : [{ reason, place: places[column] }]))
    .toSorted((one, other) => one.place - other.place)
    .map(({ reason }) => reason);
}

function answerTo(caller: CallerName, reason: Reason): Answer {
  return answersOf[caller]?.[reason] ?? table.find(([each]) => each === reason)?.[1] ?? assert.fail(reason);
}

const configuration = {
  providers: { sandbox: { kind: 'sandbox' } },
  models: { sandbox: { targets: [{ provider: 'sandbox', model: 'x' }] } },
  limits: callLimits,
};

describe('of two refusals that a request earns', function () {
  this.timeout(60_000);
  const folder = temporaryFolder();
  const gatewayFile = join(folder.path, 'gateway.json');
  writeFileSync(gatewayFile, JSON.stringify(configuration));
  const running = composedService(embeddedStores, { ...limits, GATEWAY_CONFIG: gatewayFile });
  let service: AskedService;
  let other: AskingProject;
  const left: Leave[] = [];
  const leaveAll = () => Promise.all(left.splice(0).map((leave) => leave()));

  before(async () => {
    service = { port: Number(new URL(running.url).port), admin: running.client, adminKey };
    other = await AskingProject.create(service);
  });
  afterEach(leaveAll);
  after(() => folder.remove());

  const addressOf = (caller: CallerName): Address =>
    caller === 'socket' ? { socketPath: join(running.dataDir, 'control.sock') } : { port: service.port };
  const callerOf: Record<Exclude<CallerName, 'line'>, (address: Address) => Caller> = { rest, chat, mcp, socket: rest };

  /** A request that earns two refusals, for which everything but the connections of the node is prepared. */
  async function prepare(name: Exclude<CallerName, 'line'>, reasons: ReadonlySet<Reason>) {
    const project = await AskingProject.create(service, reasons.has('scope') ? ['flows:read'] : undefined);
    const { key, flowId } = project;
    // The control socket reaches every flow there is.
    const asked = { reasons, key, flowId, otherFlowId: name === 'socket' ? unknownId : other.flowId };
    const ask = callerOf[name](addressOf(name));
    if (reasons.has('remembered') || reasons.has('replay'))
      assert.equal(await ask({ ...asked, isFirst: true }), '200 done');
    if (reasons.has('bytes')) left.push(await project.fillBodies(addressOf(name)));
    if (reasons.has('calls')) left.push(await project.fillCalls());
    if (reasons.has('answers')) left.push(await project.fillAnswers());
    if (reasons.has('deleted')) await project.deleteFlow();
    if (reasons.has('rate')) await project.reachRate();
    if (reasons.has('key')) await project.revokeKey();
    return () => ask(asked);
  }

  async function answerWith(name: Exclude<CallerName, 'line'>, reasons: ReadonlySet<Reason>): Promise<Answer> {
    const ask = await prepare(name, reasons);
    if (reasons.has('place')) left.push(await fillConnections(service));
    const answer = await ask();
    await leaveAll();
    return answer;
  }

  for (const [name, described] of [
    ['rest', 'over HTTP'],
    ['chat', 'of a chat'],
    ['mcp', 'of a tool of MCP'],
    ['socket', 'on the control socket'],
  ] as const) {
    describe(described, () => {
      const order = orderOf(name);
      for (const [index, first] of order.entries()) {
        const later = order.slice(index + 1).filter((second) => canMeet(name, first, second));
        it(`answers ${first} alone, and before ${later.join(', ') || 'nothing'}`, async () => {
          const answers: Partial<Record<Reason, Answer>> = {};
          for (const second of [first, ...later]) {
            answers[second] = await answerWith(name, new Set([first, second]));
          }
          const expected = Object.fromEntries([first, ...later].map((second) => [second, answerTo(name, first)]));
          assert.deepEqual(answers, expected);
        });
      }
    });
  }

  describe('of a line of a batch', () => {
    const order = orderOf('line');
    /** A line that waits is answered later, so of these limits only the first can be seen. */
    const waits: ReadonlyArray<Reason> = ['answers', 'calls', 'bytes'];
    const answered = order.filter((reason) => reason !== 'key' && !waits.includes(reason));
    const pairs = (reasons: ReadonlyArray<Reason>) =>
      reasons.flatMap((first, index) => reasons.slice(index + 1).map((second) => [first, second] as const));

    it(`answers ${answered.join(', ')} in this order`, async () => {
      const project = await AskingProject.create(service);
      const lines = [...answered.map((reason) => [reason, reason] as const), ...pairs(answered)];
      const batch = await BatchOfLines.begin(service, project, lines);
      await batch.ended();
      assert.deepEqual(
        await batch.answers(),
        lines.map(([first]) => answerTo('line', first)),
      );
    });

    for (const limit of waits) {
      const place = order.indexOf(limit);
      const earlier = answered.filter((reason) => order.indexOf(reason) < place);
      const later = answered.filter((reason) => order.indexOf(reason) > place);
      it(`answers ${earlier.join(', ') || 'nothing'} while ${limit} make it wait, and ${later.join(', ')} after that`, async () => {
        const project = await AskingProject.create(service);
        // The batch cannot be created once a limit is reached.
        left.push(await project.fillCalls());
        const batch = await BatchOfLines.begin(
          service,
          project,
          answered.map((reason) => [limit, reason]),
        );
        if (limit !== 'calls') {
          const leave = limit === 'bytes' ? await project.fillBodies() : await project.fillAnswers();
          await leaveAll();
          left.push(leave);
        }
        await eventually(async () => (await batch.count()) === earlier.length, 'the lines that do not wait');
        // Several times as long as a line waits before it is tried again.
        await sleep(800);
        assert.equal(await batch.count(), earlier.length);
        await leaveAll();
        await batch.ended();
        assert.deepEqual(
          await batch.answers(),
          answered.map((reason) => answerTo('line', reason)),
        );
      });
    }

    it('ends with its key before calls make it wait no more', async () => {
      const project = await AskingProject.create(service);
      left.push(await project.fillCalls());
      const batch = await BatchOfLines.begin(service, project, [['key', 'calls']]);
      await project.revokeKey();
      assert.deepEqual(await batch.ended(), ['key_revoked']);
      assert.deepEqual(await batch.answers(), [null]);
    });
  });
});
