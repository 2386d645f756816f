import { defaultTimeouts } from '#gateway/transport/timeouts.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { Deployment } from './convert-deployment.ts';
import { type ImportReport, placeIn, type Section, visible } from './import-report.ts';

/** What `router_settings` and `litellm_settings` say for all models. */
export interface CommonSettings {
  readonly retries: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** Reads settings that both sections may have; LiteLLM prefers those of the router. */
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

/** Deployments with one `model_name`, in the order of the file. */
export type Group = ReadonlyArray<Deployment>;

/** Converts the deployments of one name to an entry of `models`, without fallbacks to other names. */
export function convertGroup(group: Group, common: CommonSettings, report: ImportReport): JsonObject {
  const [first, ...later] = tiersOf(group);
  const retries = retriesOf(group, common, report);
  const timeoutMs = timeoutOf(group, common, report);
  return {
    targets: weighted(first ?? []),
    ...(later.length === 0 ? {} : { fallbacks: later.flat().map(({ target }) => target) }),
    ...(retries === undefined ? {} : { retries }),
    ...(timeoutMs === undefined ? {} : { timeouts: timeoutsFor(timeoutMs) }),
  };
}

/** The targets of a model when another one falls back to it, in order. */
export function targetsInOrder(group: Group): ReadonlyArray<JsonObject> {
  return tiersOf(group).flatMap((tier) => tier.map(({ target }) => target));
}

/** Groups by `order`, the lowest first; deployments without one are asked last, unless none has one. */
function tiersOf(group: Group): ReadonlyArray<Group> {
  const orders = [...new Set(group.map(({ order }) => order))].toSorted(
    (one, other) => (one ?? Infinity) - (other ?? Infinity),
  );
  return orders.map((order) => group.filter((each) => each.order === order));
}

/** As soon as one deployment has a weight, LiteLLM gives the others none. Without any it draws evenly. */
function weighted(tier: Group): ReadonlyArray<JsonObject> {
  const isWeighted = tier.some(({ weight = 0 }) => weight > 0);
  return tier.map(({ target, weight = 0 }) => (isWeighted && tier.length > 1 ? { ...target, weight } : target));
}

function retriesOf(group: Group, common: CommonSettings, report: ImportReport): number | undefined {
  const num = shared(group, 'num_retries', ({ retries }) => retries.num, report);
  const known = num ?? common.retries;
  if (known === undefined) return shared(group, 'max_retries', ({ retries }) => retries.max, report);
  for (const { place, retries } of group)
    if (retries.max !== undefined)
      report.leaveOut(`${place}.litellm_params.max_retries`, 'num_retries decides the retries of this model');
  return known;
}

function timeoutOf(group: Group, common: CommonSettings, report: ImportReport): number | undefined {
  return shared(group, 'timeout', ({ timeoutMs }) => timeoutMs, report) ?? common.timeoutMs;
}

/** A value that is a model's here. It counts if all its deployments have the same. */
function shared(
  group: Group,
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

/** The names in lists of fallbacks, by the model that has them. */
export class Fallbacks {
  readonly #byModel = new Map<string, { readonly place: string; readonly names: ReadonlyArray<Json> }>();
  readonly #default: { readonly place: string; readonly names: ReadonlyArray<Json> } | null;
  readonly #report: ImportReport;
  readonly #namedPlaces = new Set<string>();

  /** @param section the one whose fallbacks count */
  constructor(section: Section, report: ImportReport) {
    this.#report = report;
    let forAll: { readonly place: string; readonly names: ReadonlyArray<Json> } | null = null;
    for (const [index, each] of section.takeList('fallbacks').entries()) {
      const place = `${placeIn(section.place, 'fallbacks')}[${index}]`;
      const [entry, ...others] = isObject(each) ? Object.entries(each) : [];
      if (entry === undefined || !Array.isArray(entry[1]))
        report.leaveOut(place, 'is not a map of a model to a list of models');
      else if (others.length > 0) report.leaveOut(place, 'names several models, of which LiteLLM reads only the first');
      else if (entry[0] === '*') forAll = { place: placeIn(place, '*'), names: entry[1] as ReadonlyArray<Json> };
      else if (this.#byModel.has(entry[0]))
        report.leaveOut(place, 'is the second list of this model, and LiteLLM reads the first');
      else this.#byModel.set(entry[0], { place: placeIn(place, entry[0]), names: entry[1] as ReadonlyArray<Json> });
    }
    const names = section.takeList('default_fallbacks');
    this.#default = names.length > 0 ? { place: placeIn(section.place, 'default_fallbacks'), names } : forAll;
    if (names.length > 0 && forAll !== null) report.leaveOut(forAll.place, 'default_fallbacks is preferred');
  }

  /** Whether a model has a list of its own. */
  has(model: string): boolean {
    return this.#byModel.has(model);
  }

  /** Returns the targets of the models that a model falls back to, in order. */
  of(model: string, groups: ReadonlyMap<string, Group>): ReadonlyArray<JsonObject> {
    const own = this.#byModel.get(model);
    const list = own ?? this.#default;
    if (list === null) return [];
    return list.names.flatMap((name, index) => {
      const place = `${list.place}[${index}]`;
      if (name === model) {
        if (own !== undefined) this.#leaveOutOnce(place, 'is the model itself');
        return [];
      }
      return this.#targetsOf(name, place, groups);
    });
  }

  #targetsOf(name: Json, place: string, groups: ReadonlyMap<string, Group>): ReadonlyArray<JsonObject> {
    if (typeof name !== 'string') {
      this.#leaveOutOnce(place, 'is not a name of a model');
      return [];
    }
    const group = groups.get(name);
    if (group !== undefined) {
      if (this.#byModel.has(name))
        this.#noteOnce(place, `${visible(name)} has fallbacks too, which LiteLLM asks next and this gateway does not`);
      return targetsInOrder(group);
    }
    const byId = [...groups.values()].flat().filter(({ id }) => id === name);
    if (byId.length === 0) this.#leaveOutOnce(place, `${visible(name)} is not a model of the converted configuration`);
    return byId.map(({ target }) => target);
  }

  /** Names the lists of models that the configuration does not have. */
  nameUnused(models: ReadonlySet<string>): void {
    for (const [model, { place }] of this.#byModel)
      if (!models.has(model)) this.#report.leaveOut(place, 'is not a model of the converted configuration');
  }

  // A list can be read for several models.
  #isFirstAt(place: string): boolean {
    const isFirst = !this.#namedPlaces.has(place);
    this.#namedPlaces.add(place);
    return isFirst;
  }

  #leaveOutOnce(place: string, text: string): void {
    if (this.#isFirstAt(place)) this.#report.leaveOut(place, text);
  }

  #noteOnce(place: string, text: string): void {
    if (this.#isFirstAt(place)) this.#report.note(place, text);
  }
}
