import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import type { FlowVersionRecord } from '#domain/flow/record.ts';
import type { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { profileContents } from '#test/e2e/support/operations.ts';
import { SettlingClient } from '#test/e2e/support/settling-load.ts';
import { StateHistory } from '#test/e2e/support/state-history.ts';
import { allEnded } from '#test/support/run/all-ended.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import type { Client, RawRequest, Reply } from '#test/support/service/client.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes, projectingNode } from '#test/support/service/nodes.ts';
import type { ServiceProcess } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };

/** The states that come in turn. They are enough to find a reader that goes back by one. */
const statesInTurn = 8;
/** Writes and reads that wait less for read models meet more states. */
const quick = { READ_YOUR_WRITES_TIMEOUT_MS: '100' };
/** Of this number of reads one is at the writer's position. */
const readsForOneAtPosition = 4;
const shortMs = 4_000;
const longMs = 90_000;
const pauseMs = 2_000;
const betweenFaultsMs = 4_000;
const leastTurns = 2 * statesInTurn;
const leastReads = 50;
const retryMs = 20;

/** The changes that one writer makes in turn, and what readers have seen of them. */
interface Scene {
  readonly writer: SettlingClient;
  readonly projectPath: string;
  readonly flows: ReadonlyArray<string>;
  readonly versionsPath: string;
  readonly versions: ReadonlyArray<string>;
  /** The profiles of which one is the default. */
  readonly candidates: ReadonlyArray<string>;
  /** The profiles of which one has the first flow. */
  readonly owners: ReadonlyArray<string>;
  readonly phoneNumberId: string;
  readonly active: StateHistory;
  readonly standard: StateHistory;
  readonly owner: StateHistory;
  readonly called: StateHistory;
  /** Numbers that are released and taken again count in this history: as the names that they get. */
  readonly taken: StateHistory;
  /** The position of the newest acknowledged change. */
  position: number;
  turns: number;
  isOver: boolean;
}

describeOnSharedEngines('histories of concurrent clients on two nodes', (engines) => {
  const nodes = new Nodes(engines);
  let running: ServiceProcess[];

  beforeEach(async () => {
    running = [nodes.begin(undefined, quick), nodes.begin(undefined, quick)];
    await Promise.all(running.map((node) => node.listening()));
  });
  afterEach(() => nodes.end());

  const clientAt = (index: number): Client => {
    const node = running[index % running.length];
    return node?.client ?? assert.fail('there is no node');
  };
  /** Sends each request to the next node. A node that is killed answers nothing. */
  const anyNode = (): Pick<Client, 'send'> => {
    let sent = 0;
    return {
      send: async <T>(request: RawRequest): Promise<Reply<T>> => {
        sent += 1;
        const answer = await answerOf(() => clientAt(sent).send<T>(request));
        return answer ?? { status: 503, headers: { 'retry-after': '1' }, body: undefined as T, text: 'no answer' };
      },
    };
  };

  /**
   * Runs the writer, and readers of each list on each node, until the work is over and enough was read.
   * @returns what contradicts the history
   */
  const violations = async (whileWriting: () => Promise<void>): Promise<ReadonlyArray<string>> => {
    const scene = await newScene(new SettlingClient(anyNode()));
    const found: string[] = [];
    const readers = running.flatMap((_, node) =>
      lists(scene).map((list) => new Reader(scene, list, () => clientAt(node))),
    );
    const isEnough = () => scene.turns >= leastTurns && readers.every(({ reads }) => reads >= leastReads);
    const work = async () => {
      await whileWriting();
      await eventually(isEnough, 'enough is written and read');
    };
    const worked = work().finally(() => {
      scene.isOver = true;
    });
    await allEnded([worked, writeInTurn(scene), ...readers.map((reader) => reader.run(found))]);
    return found;
  };

  it('show no state that never was, and none older than before', async () => {
    expectNone(await violations(() => sleep(shortMs)));
  });

  it(`show neither while the node that projects is paused and killed ${long}`, async function () {
    this.timeout(longMs * 4);
    const disturb = async () => {
      const end = performance.now() + longMs;
      for (let turn = 0; performance.now() < end; turn += 1) {
        await sleep(betweenFaultsMs);
        const node = await projectingNode(clientAt(turn), running).catch(() => null);
        if (node === null) continue;
        if (turn % 2 === 0) {
          node.freeze();
          await sleep(pauseMs);
          node.thaw();
        } else {
          await node.kill();
          running[running.indexOf(node)] = await nodes.start(undefined, quick);
        }
      }
    };
    expectNone(await violations(disturb));
  });
});

/** A list, and what it must show. */
interface ReadList {
  readonly path: string;
  /** Returns what is wrong with an answer, besides its age. */
  readonly check: (body: unknown) => string | null;
  /** The states that an answer shows, each with its history. Null for one that an answer may lack for a moment. */
  readonly statesOf: (body: unknown) => ReadonlyArray<ShownState>;
}

interface ShownState {
  readonly what: string;
  readonly history: StateHistory;
  readonly state: string | null;
  /** Whether a read at the position of a change shows it; a process makes the others later. */
  readonly isAtPosition: boolean;
}

function lists(scene: Scene): ReadonlyArray<ReadList> {
  const versions = (body: unknown) => (body as { versions: FlowVersionRecord[] }).versions;
  const profiles = (body: unknown) => (body as { agentProfiles: AgentProfileRecord[] }).agentProfiles;
  const numbers = (body: unknown) => (body as { phoneNumbers: PhoneNumberRecord[] }).phoneNumbers;
  const one = (what: string, history: StateHistory, state: string | undefined, isAtPosition = true) => ({
    what,
    history,
    state: state ?? null,
    isAtPosition,
  });
  return [
    {
      path: scene.versionsPath,
      check: (body) => {
        const active = versions(body).filter(({ isActive }) => isActive).length;
        return active === 1 ? null : `${active} active versions`;
      },
      statesOf: (body) => [one('active version', scene.active, versions(body).find(({ isActive }) => isActive)?.id)],
    },
    {
      path: `${scene.projectPath}/agent-profiles`,
      check: (body) => {
        const defaults = profiles(body).filter(({ isDefault }) => isDefault).length;
        if (defaults > 1) return `${defaults} default profiles`;
        const assigned = profiles(body).flatMap(({ flowIds }) => flowIds);
        return new Set(assigned).size === assigned.length ? null : 'a flow under two profiles';
      },
      statesOf: (body) => [
        one('default profile', scene.standard, profiles(body).find(({ isDefault }) => isDefault)?.id),
        one('profile of a flow', scene.owner, profiles(body).find(({ flowIds }) => flowIds.length > 0)?.id, false),
      ],
    },
    {
      path: `${scene.projectPath}/phone-numbers`,
      check: (body) => {
        const shown = numbers(body).map(({ number }) => number);
        return new Set(shown).size === shown.length ? null : 'a number twice';
      },
      statesOf: (body) => {
        const called = numbers(body).find(({ id }) => id === scene.phoneNumberId);
        return [
          one('flow of a number', scene.called, called?.flowId ?? 'none'),
          // It is free between its release and its next use.
          one('taken number', scene.taken, numbers(body).find(({ id }) => id !== scene.phoneNumberId)?.name, false),
        ];
      },
    },
  ];
}

/** Reads a list on a node as fast as it can, at times at the writer's position. */
class Reader {
  readonly #scene: Scene;
  readonly #list: ReadList;
  readonly #client: () => Client;
  /** The number of the newest state that it has seen, by its history. */
  readonly #newest = new Map<StateHistory, number>();
  #reads = 0;

  constructor(scene: Scene, list: ReadList, client: () => Client) {
    this.#scene = scene;
    this.#list = list;
    this.#client = client;
  }

  /** How often it was answered. */
  get reads(): number {
    return this.#reads;
  }

  /** Reads until the writer ends. @param found gets what contradicts the history */
  async run(found: string[]): Promise<void> {
    for (let turn = 0; !this.#scene.isOver; turn += 1) {
      const isAnswered = await this.#read(turn % readsForOneAtPosition === 0, found);
      if (isAnswered) this.#reads += 1;
      else await sleep(retryMs);
    }
  }

  async #read(isAtPosition: boolean, found: string[]): Promise<boolean> {
    const { path, check, statesOf } = this.#list;
    const acknowledged = new Map(historiesOf(this.#scene).map((history) => [history, history.acknowledged]));
    const headers: Record<string, string> = isAtPosition
      ? { 'switchyard-min-position': String(this.#scene.position) }
      : {};
    const reply = await answerOf(() => this.#client().get(path, headers));
    if (reply === null || reply.status === 503) return false;
    assert.equal(reply.status, 200, reply.text);
    const wrong = check(reply.body);
    if (wrong !== null) found.push(wrong);
    for (const shown of statesOf(reply.body)) {
      const least = isAtPosition && shown.isAtPosition ? (acknowledged.get(shown.history) ?? 0) : 0;
      if (!this.#isNewer(shown, least)) found.push(`an older ${shown.what}${isAtPosition ? ' at a position' : ''}`);
    }
    return true;
  }

  /** @param least the number of the oldest state that may be shown */
  #isNewer({ history, state }: ShownState, least: number): boolean {
    if (state === null) return true;
    const number = history.find(state, Math.max(least, this.#newest.get(history) ?? 0));
    if (number !== null) this.#newest.set(history, number);
    return number !== null;
  }
}

const historiesOf = ({ active, standard, owner, called, taken }: Scene) => [active, standard, owner, called, taken];

/** Creates what the writer changes and the readers read, in its first state. */
async function newScene(writer: SettlingClient): Promise<Scene> {
  const create = async (path: string, body: object) => {
    const reply = await writer.carryOut('POST', path, body);
    return { id: reply.body?.id ?? '', position: Number(reply.headers['switchyard-position']) };
  };
  const many = async (path: string, body: (index: number) => object) => {
    const made: Named[] = [];
    for (let index = 0; index < statesInTurn; index += 1) made.push(await create(path, body(index)));
    return made.map(({ id }) => id);
  };
  const projectPath = `/v1/projects/${(await create('/v1/projects', { name: 'Histories' })).id}`;
  const flows = await many(`${projectPath}/flows`, () => ({ name: 'Flow', flowSchema: {} }));
  const versionsPath = `/v1/flows/${flows[1]}/versions`;
  const versions = await many(versionsPath, () => ({ flowSchema: {} }));
  const profilesPath = `${projectPath}/agent-profiles`;
  const candidates = await many(profilesPath, (index) => ({ ...profileContents, isDefault: index === 0 }));
  const owners = await many(profilesPath, () => profileContents);
  const number = { name: 'Called', number: `called ${projectPath}`, flowId: flows[0] };
  const { id: phoneNumberId, position } = await create(`${projectPath}/phone-numbers`, number);
  const scene: Scene = {
    ...{ writer, projectPath, flows, versionsPath, versions, candidates, owners, phoneNumberId, position },
    active: new StateHistory(),
    standard: new StateHistory(),
    owner: new StateHistory(),
    called: new StateHistory(),
    taken: new StateHistory(),
    turns: 0,
    isOver: false,
  };
  // Readers begin after every fact has its first state.
  await takeTurn(scene);
  return scene;
}

async function writeInTurn(scene: Scene): Promise<void> {
  while (!scene.isOver) await takeTurn(scene);
}

/** Changes each fact to its next state, all together. */
async function takeTurn(scene: Scene): Promise<void> {
  const { projectPath, flows, phoneNumberId } = scene;
  const next = (ids: ReadonlyArray<string>) => ids[scene.turns % ids.length] ?? assert.fail('there is no state');
  const change = async (request: Parameters<SettlingClient['carryOut']>) => {
    const reply = await scene.writer.carryOut(...request);
    scene.position = Math.max(scene.position, Number(reply.headers['switchyard-position'] ?? 0));
    return reply.body?.id ?? '';
  };
  const changeTo = async (state: string, history: StateHistory, ...request: Parameters<SettlingClient['carryOut']>) => {
    history.begin(state);
    const id = await change(request);
    history.acknowledge();
    return id;
  };
  const version = next(scene.versions);
  const candidate = next(scene.candidates);
  const owner = next(scene.owners);
  const flowId = next(flows);
  const standard = { ...profileContents, isDefault: true };
  const owning = { ...profileContents, flowIds: [flows[0]] };
  const name = `Turn ${scene.turns}`;
  const takeAndRelease = async () => {
    const number = { name, number: `taken ${projectPath}` };
    const taken = await changeTo(name, scene.taken, 'POST', `${projectPath}/phone-numbers`, number);
    await change(['DELETE', `/v1/phone-numbers/${taken}`]);
  };
  await Promise.all([
    changeTo(version, scene.active, 'POST', `/v1/flow-versions/${version}/activate`),
    changeTo(candidate, scene.standard, 'PUT', `/v1/agent-profiles/${candidate}`, standard),
    changeTo(owner, scene.owner, 'PUT', `/v1/agent-profiles/${owner}`, owning),
    changeTo(flowId, scene.called, 'PATCH', `/v1/phone-numbers/${phoneNumberId}/flow`, { flowId }),
    takeAndRelease(),
  ]);
  scene.turns += 1;
}

/** @returns null without an answer: the node is killed */
async function answerOf<T>(send: () => Promise<Reply<T>>): Promise<Reply<T> | null> {
  try {
    return await send();
  } catch {
    return null;
  }
}

function expectNone(violations: ReadonlyArray<string>): void {
  const byKind = Map.groupBy(violations, (kind) => kind);
  const table = [...byKind].map(([kind, { length }]) => `\n  ${length} × ${kind}`).join('');
  assert.equal(violations.length, 0, `lists showed states that never were, or old ones:${table}`);
}
