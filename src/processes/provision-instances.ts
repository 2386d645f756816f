import * as E from 'fp-ts/lib/Either.js';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import type { InstanceEvents, InstanceTarget } from '#domain/instance/events.ts';
import { valueOfField } from '#domain/instance/field-values.ts';
import { type InstanceState, instance } from '#domain/instance/instance.ts';
import {
  isUnchanged,
  type OperationProgress,
  type Problem,
  progressOf,
  type RetryLimits,
  reportOn,
} from '#domain/instance/reports.ts';
import { decideAgentProfileStep, decideFlowStep, decideStoreStep } from '#domain/instance/step-decisions.ts';
import type { Step } from '#domain/instance/steps.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { store } from '#domain/store/store.ts';
import { fillPlaceholders } from '#domain/template/placeholders.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { templateVersion, templateVersionRecord } from '#domain/template/template.ts';
import { CommandRejectedError, isPassing } from '#process-engine/create-process-tools.ts';
import { type Process, type ProcessTools, process } from '#process-engine/process.ts';
import type { Json } from '#shared/json/json.ts';

const defaultRetryLimits: RetryLimits = { attempts: 8, firstPause: 250, longestPause: 60_000 };

const maxOperationsAtOnce = 16;

/** Maximum length of a filled schema. No store accepts as much in one append. */
const maxFilledCharacters = 1024 * 1024;

/**
 * Carries out the steps of an instance in order, several instances at the same time. Each step is one decision on one
 * stream, and appends nothing if it is already done. The instance's own stream holds the progress. So an interrupted
 * operation is resumed, and two nodes that work on the same operation do nothing twice. See docs/adr/0013.
 */
export function provisionInstances(retryLimits: RetryLimits = defaultRetryLimits): Process {
  const provision = (id: string, operation: number, tools: ProcessTools) =>
    new Provisioning(id, operation, retryLimits, tools).run();
  const carryOut = ({ data }: { readonly data: Requested }, tools: ProcessTools) =>
    provision(data.id, data.operation, tools);
  return process<InstanceEvents>({
    name: 'provision-instances',
    concurrency: maxOperationsAtOnce,
    on: {
      InstanceCreated: ({ data }, tools) => provision(data.id, 1, tools),
      InstanceUpgradeRequested: carryOut,
      InstanceRetryRequested: carryOut,
      InstanceDeleted: carryOut,
    },
  });
}

interface Requested {
  readonly id: string;
  readonly operation: number;
}

/** What was found at the time of an operation's step. */
interface Found {
  readonly state: NonNullable<InstanceState>;
  readonly tenant: Tenant;
  readonly progress: OperationProgress;
}

/** Carries out one operation, until it has ended or another has superseded it. */
class Provisioning {
  readonly #id: string;
  readonly #number: number;
  readonly #retryLimits: RetryLimits;
  readonly #tools: ProcessTools;
  #contents: Promise<TemplateVersionRecord> | null = null;

  constructor(id: string, number: number, retryLimits: RetryLimits, tools: ProcessTools) {
    this.#id = id;
    this.#number = number;
    this.#retryLimits = retryLimits;
    this.#tools = tools;
  }

  async run(): Promise<void> {
    for (let found = await this.#find(); found !== null; found = await this.#find()) {
      const { problem } = found.progress.operation;
      if (problem !== null) await this.#tools.pauseUntil(problem.retryAt);
      await this.#advance(problem === null ? found : await this.#find());
    }
  }

  async #find(): Promise<Found | null> {
    const { state, tenant } = await this.#tools.load(instance, this.#id);
    const progress = progressOf(state, this.#number);
    return state === null || tenant === null || progress === null ? null : { state, tenant, progress };
  }

  /** Carries out the next steps, and reports the outcome. */
  async #advance(found: Found | null): Promise<void> {
    if (found === null) return;
    const { progress } = found;
    const outcomes = await Promise.all(progress.steps.map((step) => this.#attempt(step, found)));
    const firstProblem = outcomes.findIndex((problem) => problem !== null);
    const done = firstProblem === -1 ? outcomes.length : firstProblem;
    await this.#tools.write({
      entity: instance,
      id: this.#id,
      decide: ({ state }) => {
        const unchanged = state !== null && isUnchanged(state, progress);
        const problem = outcomes[done] ?? null;
        const events = unchanged ? reportOn(state, progress, done, problem, this.#retryLimits, this.#tools.now()) : [];
        return E.right({ events, tenant: null });
      },
    });
  }

  async #attempt(step: Step, found: Found): Promise<Problem | null> {
    try {
      await this.#do(step, found);
      return null;
    } catch (error) {
      if (error instanceof CommandRejectedError) return problemOf(step, error.failure, found.state);
      if (error instanceof Error && error.name === 'AbortError') throw error;
      this.#tools.log.error({ err: error, instance: this.#id, operation: this.#number, step }, 'a step failed');
      return { reason: `${titleOf(step)} could not be done just now.`, isFinal: false };
    }
  }

  async #do(step: Step, { state, tenant, progress }: Found): Promise<void> {
    const { projectId, base, target } = state;
    const { id, key } = step;
    const { committed, undoneFor, done, clearing } = progress.operation;
    const comesUpToTarget = !committed && undoneFor === null && done >= clearing;
    const { resources } = comesUpToTarget ? target : (base ?? { resources: null });
    const change = <State, Events>(
      entity: Entity<State, Events>,
      decide: (state: State) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>,
    ) => this.#change(entity, id, progress, tenant, decide);
    switch (step.resource) {
      case 'flow': {
        const wanted = resources?.flows.find((each) => each.id === id) ?? null;
        const about = {
          step,
          projectId,
          wanted,
          base: base?.resources.flows.find((each) => each.id === id) ?? null,
          agentProfileId: resources?.agentProfile?.id ?? null,
          flowSchema: needsSchema(step) ? await this.#filledSchema(key, target) : null,
        };
        return change(flow, (now) => decideFlowStep(about, now));
      }
      case 'agent-profile': {
        const profile = resources?.agentProfile ?? null;
        const wanted = profile?.id === id ? profile : null;
        return change(projectAgentProfiles, (now) => decideAgentProfileStep({ step, projectId, wanted }, now));
      }
      case 'store': {
        const wanted = resources?.stores.find((each) => each.id === id) ?? null;
        return change(store, (now) => decideStoreStep({ step, projectId, wanted }, now));
      }
    }
  }

  /**
   * Decides on another stream, if the operation's progress is unchanged. It reads the instance after that stream: if a
   * caller supersedes the operation and then changes the stream, this append is a conflict, and the command decides
   * again.
   */
  #change<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    progress: OperationProgress,
    tenant: Tenant,
    decide: (state: State) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>,
  ): Promise<void> {
    return this.#tools.write({
      entity,
      id,
      decide: async ({ state }) => {
        const now = await this.#tools.load(instance, this.#id);
        if (!isUnchanged(now.state, progress)) return E.right({ events: [], tenant: null });
        return E.map((events: ReadonlyArray<EventOf<Events>>) => ({ events, tenant }))(decide(state));
      },
    });
  }

  async #filledSchema(key: string | null, { templateVersionId, fieldValues }: InstanceTarget): Promise<Json> {
    const { payload, fieldsSchema } = await this.#versionOnce(templateVersionId);
    const made = payload.flows.find((each) => each.key === key);
    if (made === undefined) throw new Error(`template version ${templateVersionId} has no flow "${key}"`);
    const types = new Map(fieldsSchema.map((field) => [field.key, field.type]));
    const values = {
      typeOf: (field: string) => types.get(field) ?? 'string',
      valueFor: (field: string) => valueOfField(fieldValues, field),
    };
    const result = fillPlaceholders(made.flowSchema, values, maxFilledCharacters);
    if (result === 'too-large') throw new CommandRejectedError(tooLarge);
    return result.filled;
  }

  /** Reads the version once: steps that run at the same time share one read. A failed read is not kept. */
  #versionOnce(id: string): Promise<TemplateVersionRecord> {
    this.#contents ??= this.#version(id).catch((error: unknown) => {
      this.#contents = null;
      throw error;
    });
    return this.#contents;
  }

  async #version(id: string): Promise<TemplateVersionRecord> {
    const { state } = await this.#tools.load(templateVersion, id);
    return templateVersionRecord(state, id, (revision) => this.#tools.dataAt(templateVersion, id, revision));
  }
}

const needsSchema = ({ action }: Step) => action === 'create' || action === 'prepare';

const tooLarge = failure('append-too-large', 'It takes more than 1 MiB with its fields filled in.');

function problemOf(step: Step, refusal: Failure, state: NonNullable<InstanceState>): Problem {
  const { code, detail } = refusal;
  if (code === 'append-too-large') {
    const reason = `${titleOf(step)} is too large to be stored. ${detail} A retry fails in the same way: ${shorter(state)}`;
    return { reason, isFinal: true };
  }
  return { reason: detail, isFinal: !isPassing(refusal) };
}

/** Suggests a smaller change. A retry keeps version and values; an instance that was never active keeps its version. */
function shorter({ base }: NonNullable<InstanceState>): string {
  return base === null
    ? 'upgrade to a newer version with shorter newFieldValues, or delete the instance and create it again with shorter fieldValues.'
    : 'upgrade again with shorter newFieldValues, or to a smaller version.';
}

function titleOf({ resource, key }: Step): string {
  return key === null ? 'The agent profile' : `The ${resource} "${key}"`;
}
