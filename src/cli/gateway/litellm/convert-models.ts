import { defaultTimeouts } from '#gateway/transport/timeouts.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { Deployment } from './convert-deployment.ts';
import type { ImportReport, Section } from './import-report.ts';

/** The settings of `router_settings` and `litellm_settings`. */
export interface CommonSettings {
  readonly retries: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** LiteLLM prefers the settings of the router. */
export function readCommonSettings(router: Section, module: Section): CommonSettings {
  const timeout = preferred(
    router.takeNumber('timeout', 0.001, 86_400),
    module.takeNumber('request_timeout', 0.001, 86_400),
    () => module.leaveOut('request_timeout', 'router_settings.timeout is preferred'),
  );
  return {
    retries: preferred(router.takeInteger('num_retries', 0, 10), module.takeInteger('num_retries', 0, 10), () =>
      module.leaveOut('num_retries', 'router_settings.num_retries is preferred'),
    ),
    timeoutMs: timeout === undefined ? undefined : Math.round(timeout * 1_000),
  };
}

function preferred(first: number | undefined, second: number | undefined, onBoth: () => void): number | undefined {
  if (first !== undefined && second !== undefined) onBoth();
  return first ?? second;
}

/** The deployments with one `model_name`, in the order of the file. */
export type DeploymentGroup = ReadonlyArray<Deployment>;

/** Converts a model without its fallbacks to other names. */
export function convertGroup(group: DeploymentGroup, common: CommonSettings, report: ImportReport): JsonObject {
  const [first, ...later] = tiersOf(group);
  const retries = retriesOf(group, common, report);
  const timeoutMs = timeoutOf(group, common, report);
  return {
    targets: weighted(first ?? []),
    ...(later.length === 0 ? {} : { fallbacks: later.flatMap((tier) => targetsInOrder(tier, report)) }),
    ...(retries === undefined ? {} : { retries }),
    ...(timeoutMs === undefined ? {} : { timeouts: timeoutsFor(timeoutMs) }),
  };
}

/** The targets in order, for another model that falls back to this one. */
export function targetsAsFallbacks(group: DeploymentGroup, report: ImportReport): ReadonlyArray<JsonObject> {
  return tiersOf(group).flatMap((tier) => targetsInOrder(tier, report));
}

/** Fallbacks are asked in order, so the one that LiteLLM draws most often is first. */
function targetsInOrder(tier: DeploymentGroup, report: ImportReport): ReadonlyArray<JsonObject> {
  for (const { place, weight } of tier)
    if (weight !== undefined)
      report.note(
        `${place}.litellm_params.weight`,
        'is only an order where the deployment is a fallback, the highest first: LiteLLM draws by it there too',
      );
  return tier.toSorted((one, other) => (other.weight ?? 0) - (one.weight ?? 0)).map(({ target }) => target);
}

/** Groups deployments by `order`, the lowest first; those without one are asked last, unless none has one. */
function tiersOf(group: DeploymentGroup): ReadonlyArray<DeploymentGroup> {
  const orders = [...new Set(group.map(({ order }) => order))].toSorted(
    (one, other) => (one ?? Infinity) - (other ?? Infinity),
  );
  return orders.map((order) => group.filter((each) => each.order === order));
}

/** As soon as one deployment has a weight, LiteLLM gives the others none. Without any it draws evenly. */
function weighted(tier: DeploymentGroup): ReadonlyArray<JsonObject> {
  const isWeighted = tier.some(({ weight = 0 }) => weight > 0);
  return tier.map(({ target, weight = 0 }) => (isWeighted ? { ...target, weight } : target));
}

function retriesOf(group: DeploymentGroup, common: CommonSettings, report: ImportReport): number | undefined {
  const num = shared(group, 'num_retries', ({ retries }) => retries.num, report);
  const known = num ?? common.retries;
  if (known === undefined) return shared(group, 'max_retries', ({ retries }) => retries.max, report);
  for (const { place, retries } of group)
    if (retries.max !== undefined)
      report.leaveOut(`${place}.litellm_params.max_retries`, 'num_retries decides the retries of this model');
  return known;
}

function timeoutOf(group: DeploymentGroup, common: CommonSettings, report: ImportReport): number | undefined {
  return shared(group, 'timeout', ({ timeoutMs }) => timeoutMs, report) ?? common.timeoutMs;
}

/** A value counts only if all deployments of the model have the same value. */
function shared(
  group: DeploymentGroup,
  name: string,
  read: (deployment: Deployment) => number | undefined,
  report: ImportReport,
): number | undefined {
  const [first] = group.map(read);
  if (group.every((each) => read(each) === first)) return first;
  for (const each of group)
    if (read(each) !== undefined)
      report.leaveOut(
        `${each.place}.litellm_params.${name}`,
        'belongs to a model here, and its deployments have different ones',
      );
  return undefined;
}

/** LiteLLM's limit is that of a silent connection, in each attempt. */
function timeoutsFor(ms: number): JsonObject {
  const whole = ms > defaultTimeouts.totalMs ? { totalMs: ms } : {};
  return { headersMs: ms, firstContentMs: ms, idleMs: ms, ...whole };
}
