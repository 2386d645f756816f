import assert from 'node:assert/strict';
import type { Json, JsonObject } from '#shared/json/json.ts';

export type StepKind =
  | 'create flow'
  | 'patch flow'
  | 'change tier'
  | 'add version'
  | 'tag version'
  | 'activate version'
  | 'delete version'
  | 'delete flow';

/** A random step. Its kind determines which members are used. */
export interface Step {
  readonly kind: StepKind;
  readonly flow: number;
  readonly version: number;
  readonly name: string;
  readonly description: string | null | undefined;
  readonly tag: string;
  readonly tier: string;
  readonly flowSchema: Json;
  readonly idempotencyKey: string | null;
  readonly ifMatch: 'none' | 'current' | 'stale';
}

/** The request to an operation for a step. */
export interface ModelRequest {
  readonly kind: StepKind;
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly ifMatch: number | null;
  readonly idempotencyKey: string | null;
  readonly flow: ModelFlow | null;
  readonly version: ModelVersion | null;
}

/** The ids that the service gave to created resources. The model takes nothing else from the service. */
export interface CreatedIds {
  readonly id: string;
  /** The id of a new flow's first version. */
  readonly firstVersionId: string;
}

/** The answer of an operation: a refusal or a success. */
export interface Expected {
  readonly refused?: string;
  readonly status?: number;
  readonly body?: unknown;
  readonly revision?: number | undefined;
}

export interface ModelVersion {
  readonly id: string;
  readonly version: number;
  readonly flowSchema: Json;
  tag: string;
  deleted: boolean;
}

export interface ModelFlow {
  readonly id: string;
  name: string;
  description: string | null;
  tier: string;
  deleted: boolean;
  readonly versions: ModelVersion[];
  active: ModelVersion | null;
  lastNumber: number;
  /** The revision of the newest event that changed something: the ETag. */
  revision: number;
  /** The revision of the newest event. */
  streamRevision: number;
}

const names: Readonly<Record<StepKind, string>> = {
  'create flow': 'create_flow',
  'patch flow': 'update_flow',
  'change tier': 'change_flow_tier',
  'add version': 'create_flow_version',
  'tag version': 'tag_flow_version',
  'activate version': 'activate_flow_version',
  'delete version': 'delete_flow_version',
  'delete flow': 'delete_flow',
};

/** A simple model of flows and their versions, by the rules in docs/behaviour.md. */
export class FlowModel {
  readonly #projectId: string;
  readonly #flows: ModelFlow[] = [];
  readonly #remembered = new Map<string, { readonly body: string; readonly answer: Expected; first: unknown }>();

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** All flows, including deleted ones. */
  everyFlow(): ReadonlyArray<ModelFlow> {
    return this.#flows;
  }

  /** The list of flows. */
  flows(): ReadonlyArray<JsonObject> {
    return this.#flows.filter(({ deleted }) => !deleted).map((flow) => this.#flowRecord(flow));
  }

  readFlow(flow: ModelFlow): Expected {
    if (flow.deleted) return { refused: 'flow-not-found' };
    return { status: 200, body: this.#flowRecord(flow), revision: flow.revision };
  }

  listVersions(flow: ModelFlow): Expected {
    if (flow.deleted) return { refused: 'flow-not-found' };
    const versions = flow.versions.filter(({ deleted }) => !deleted).map((version) => versionRecord(flow, version));
    return { status: 200, body: { versions } };
  }

  readVersion(flow: ModelFlow, id: string): Expected {
    const version = flow.versions.find((candidate) => candidate.id === id);
    if (version === undefined || version.deleted || flow.deleted) return { refused: 'flow-version-not-found' };
    return { status: 200, body: versionRecord(flow, version), revision: flow.revision };
  }

  /** Returns the request for a step in the current state. */
  request(step: Step): ModelRequest {
    const flow = this.#flows[step.flow] ?? null;
    // Without an existing flow, the step creates one.
    const kind = flow === null ? 'create flow' : step.kind;
    const version = flow?.versions[step.version % flow.versions.length] ?? null;
    const parameters = this.#parameters(kind, flow, version);
    const body = bodyOf(kind, step);
    const { idempotencyKey } = step;
    const ifMatch = kind === 'create flow' ? null : ifMatchOf(step, flow);
    return { kind, name: names[kind], parameters, body, ifMatch, idempotencyKey, flow, version };
  }

  /** Carries a request out on the model. @returns the expected answer, without times */
  expected(request: ModelRequest, created: CreatedIds): Expected {
    const key = idempotencyScopeOf(request);
    const before = key === null ? undefined : this.#remembered.get(key);
    if (before !== undefined) {
      return before.body === JSON.stringify(request.body) ? before.answer : { refused: 'idempotency-key-reused' };
    }
    const answer = this.#carryOut(request, created);
    if (key !== null && answer.refused === undefined) {
      this.#remembered.set(key, { body: JSON.stringify(request.body), answer, first: undefined });
    }
    return answer;
  }

  /** Asserts that a repeated answer equals the first one, including times. */
  checkRepeated(request: ModelRequest, answer: Expected): void {
    const remembered = this.#remembered.get(idempotencyScopeOf(request) ?? '');
    if (remembered === undefined || answer.refused !== undefined) return;
    remembered.first ??= answer;
    assert.deepEqual(answer, remembered.first);
  }

  #parameters(kind: StepKind, flow: ModelFlow | null, version: ModelVersion | null): Record<string, string> {
    if (kind === 'create flow') return { projectId: this.#projectId };
    if (['tag version', 'activate version', 'delete version'].includes(kind)) return { versionId: version?.id ?? '' };
    return { flowId: flow?.id ?? '' };
  }

  #carryOut(request: ModelRequest, created: CreatedIds): Expected {
    const { kind, body, flow, version, ifMatch, idempotencyKey } = request;
    if (kind === 'create flow') return this.#createFlow(body, created);
    if (flow === null || version === null) throw new Error('every other step has a flow');
    const ofVersion = 'versionId' in request.parameters;
    const refused = ofVersion ? 'flow-version-not-found' : 'flow-not-found';
    const gone = flow.deleted || (ofVersion && version.deleted && kind !== 'delete version');
    if (gone) return { refused };
    if (ifMatch !== null && ifMatch !== flow.revision) return { refused: 'precondition-failed' };
    if (kind === 'delete version' && flow.active === version) return { refused: 'flow-version-active' };
    const changes = applyChange(kind, body, flow, version, created.id);
    if (changes > 0) {
      flow.streamRevision += changes;
      flow.revision = flow.streamRevision;
    } else if (idempotencyKey !== null) {
      flow.streamRevision += 1;
    }
    return this.#answer(request, changes > 0);
  }

  #createFlow(body: JsonObject, { id, firstVersionId }: CreatedIds): Expected {
    const first = { id: firstVersionId, version: 1, tag: 'v1', flowSchema: body.flowSchema ?? null, deleted: false };
    const flow: ModelFlow = {
      id,
      name: String(body.name),
      description: (body.description ?? null) as string | null,
      tier: 'standard',
      deleted: false,
      versions: [first],
      active: first,
      lastNumber: 1,
      revision: 2,
      streamRevision: 2,
    };
    this.#flows.push(flow);
    return { status: 201, body: this.#flowRecord(flow), revision: 2 };
  }

  #answer({ kind, flow, version }: ModelRequest, changes: boolean): Expected {
    if (flow === null || version === null) throw new Error('every other step has a flow');
    const { revision } = flow;
    switch (kind) {
      case 'delete flow':
        return { status: 204 };
      case 'delete version':
        return changes ? { status: 200, body: versionRecord(flow, version), revision } : { status: 200, body: null };
      case 'add version': {
        const added = flow.versions.at(-1) ?? version;
        return { status: 201, body: versionRecord(flow, added), revision };
      }
      case 'tag version':
      case 'activate version':
        return { status: 200, body: versionRecord(flow, version), revision };
      default:
        return { status: 200, body: this.#flowRecord(flow), revision };
    }
  }

  #flowRecord({ id, name, description, tier }: ModelFlow): JsonObject {
    const common = { id, projectId: this.#projectId, name, type: 'simple', description, tier };
    return { ...common, agentProfileId: null };
  }
}

function versionRecord(flow: ModelFlow, { id, version, tag, flowSchema }: ModelVersion): JsonObject {
  const isActive = flow.active?.id === id;
  return { id, flowId: flow.id, version, tag, flowSchema, isActive };
}

/** Applies a change to the model. @returns the number of events that it takes */
function applyChange(kind: StepKind, body: JsonObject, flow: ModelFlow, version: ModelVersion, id: string): number {
  switch (kind) {
    case 'patch flow': {
      const renamed = body.name !== flow.name;
      const described = body.description !== undefined && body.description !== flow.description;
      flow.name = String(body.name);
      if (described) flow.description = body.description as string | null;
      return Number(renamed) + Number(described);
    }
    case 'change tier': {
      const moved = flow.tier !== body.tier;
      flow.tier = String(body.tier);
      return Number(moved);
    }
    case 'add version': {
      flow.lastNumber += 1;
      const { lastNumber } = flow;
      const flowSchema = body.flowSchema ?? null;
      flow.versions.push({ id, version: lastNumber, tag: `v${lastNumber}`, flowSchema, deleted: false });
      return 1;
    }
    case 'tag version': {
      const retagged = version.tag !== body.tag;
      version.tag = String(body.tag);
      return Number(retagged);
    }
    case 'activate version': {
      const activated = flow.active !== version;
      flow.active = version;
      return Number(activated);
    }
    case 'delete version': {
      const deleted = !version.deleted;
      version.deleted = true;
      return Number(deleted);
    }
    case 'delete flow':
      flow.deleted = true;
      return 1;
    default:
      return 0;
  }
}

function bodyOf(kind: StepKind, { name, description, tag, tier, flowSchema }: Step): JsonObject {
  const described = description === undefined ? {} : { description };
  switch (kind) {
    case 'create flow':
      return { name, flowSchema, ...described };
    case 'patch flow':
      return { name, ...described };
    case 'change tier':
      return { tier };
    case 'add version':
      return { flowSchema };
    case 'tag version':
      return { tag };
    default:
      return {};
  }
}

function ifMatchOf({ ifMatch }: Step, flow: ModelFlow | null): number | null {
  if (ifMatch === 'none' || flow === null) return null;
  return ifMatch === 'current' ? flow.revision : flow.revision - 1;
}

function idempotencyScopeOf({ name, parameters, idempotencyKey }: ModelRequest): string | null {
  return idempotencyKey === null ? null : [name, ...Object.values(parameters), idempotencyKey].join(' ');
}
