import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type DeploymentGroup, targetsAsFallbacks } from './convert-models.ts';
import { type ImportReport, placeIn, type Section, visible } from './import-report.ts';

/** The fallbacks of each model. */
export class Fallbacks {
  readonly #byModel = new Map<string, { readonly place: string; readonly names: ReadonlyArray<Json> }>();
  readonly #default: { readonly place: string; readonly names: ReadonlyArray<Json> } | null;
  readonly #report: ImportReport;

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

  has(model: string): boolean {
    return this.#byModel.has(model);
  }

  /** The fallbacks of a model, in order. */
  of(model: string, groups: ReadonlyMap<string, DeploymentGroup>): ReadonlyArray<JsonObject> {
    const own = this.#byModel.get(model);
    const list = own ?? this.#default;
    if (list === null) return [];
    return list.names.flatMap((name, index) => {
      const place = `${list.place}[${index}]`;
      if (name === model) {
        if (own !== undefined) this.#report.leaveOut(place, 'is the model itself');
        return [];
      }
      return this.#targetsOf(name, place, groups);
    });
  }

  #targetsOf(name: Json, place: string, groups: ReadonlyMap<string, DeploymentGroup>): ReadonlyArray<JsonObject> {
    if (typeof name !== 'string') {
      this.#report.leaveOut(place, 'is not a name of a model');
      return [];
    }
    const group = groups.get(name);
    if (group !== undefined) {
      if (this.#byModel.has(name))
        this.#report.note(
          place,
          `${visible(name)} has fallbacks too, which LiteLLM asks next and this gateway does not`,
        );
      return targetsAsFallbacks(group, this.#report);
    }
    const byId = [...groups.values()].flat().filter(({ id }) => id === name);
    if (byId.length === 0)
      this.#report.leaveOut(place, `${visible(name)} is not a model of the converted configuration`);
    return byId.map(({ target }) => target);
  }

  /** Reports fallbacks of models that the configuration does not have. */
  nameUnused(models: ReadonlySet<string>): void {
    for (const [model, { place }] of this.#byModel)
      if (!models.has(model)) this.#report.leaveOut(place, 'is not a model of the converted configuration');
  }
}
