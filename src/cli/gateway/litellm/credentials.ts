import * as E from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type ImportReport, placeIn, Section } from './import-report.ts';

/** Parameters, with those of the credential that the deployment names. */
interface CreditedParams {
  readonly params: Section;
  /** The place of a parameter in the file. */
  readonly placeOf: (name: string) => string;
}

/** The section `credential_list`. */
export class Credentials {
  readonly #byName = new Map<string, { readonly place: string; readonly values: JsonObject }>();
  readonly #used = new Set<string>();
  readonly #report: ImportReport;

  constructor(list: ReadonlyArray<Json>, report: ImportReport) {
    this.#report = report;
    for (const [index, each] of list.entries()) {
      const place = `credential_list[${index}]`;
      const entry = new Section(place, isObject(each) ? each : {}, report);
      const name = entry.take('credential_name');
      const values = entry.take('credential_values');
      entry.nameOthers();
      if (typeof name !== 'string' || !isObject(values))
        report.leaveOut(place, 'has no credential_name or no credential_values');
      else if (this.#byName.has(name))
        report.leaveOut(place, 'is another credential with this name, and LiteLLM reads the first');
      else this.#byName.set(name, { place, values });
    }
  }

  /** A deployment's own values are preferred, as by LiteLLM. */
  withCredential(params: Section): E.Either<string, CreditedParams> {
    const name = params.take('litellm_credential_name');
    if (name === undefined) return E.right({ params, placeOf: (each) => placeIn(params.place, each) });
    const found = typeof name === 'string' ? this.#byName.get(name) : undefined;
    if (found === undefined || typeof name !== 'string')
      return E.left('litellm_params.litellm_credential_name names no entry of credential_list');
    this.#used.add(name);
    const own = Object.fromEntries(params.takeAll());
    const merged = new Section(params.place, { ...found.values, ...own }, params.report);
    const values = placeIn(found.place, 'credential_values');
    return E.right({
      params: merged,
      placeOf: (each) => placeIn(Object.hasOwn(own, each) ? params.place : values, each),
    });
  }

  nameUnused(): void {
    for (const [name, { place }] of this.#byName)
      if (!this.#used.has(name)) this.#report.leaveOut(place, 'no converted deployment names this credential');
  }
}
