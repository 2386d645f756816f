import type { Source } from './choose.ts';
import { changesOf, parse } from './operators.ts';
import { findPlace, type Place, type PlacedChange, placed } from './place.ts';

/** A change, and the text of the file that it changes. */
export interface FoundPlace extends Source {
  readonly change: PlacedChange;
}

/** Finds places in the code of a checkout, in the file that had them or in another one. */
export class PlacesOfCode {
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #changes = new Map<string, ReadonlyArray<PlacedChange>>();

  constructor(sources: ReadonlyArray<Source>) {
    this.#sources = new Map(sources.map((source) => [source.path, source]));
  }

  find(place: Place & { readonly file: string }): FoundPlace | null {
    return this.#findIn([place.file], place) ?? this.#findIn([...this.#sources.keys()], place);
  }

  #findIn(paths: ReadonlyArray<string>, place: Place): FoundPlace | null {
    const candidates = paths.flatMap((path) => this.#changesOf(path).map((change) => ({ ...change, path })));
    const change = findPlace(place, candidates);
    const source = change && this.#sources.get(change.path);
    return source ? { ...source, change } : null;
  }

  #changesOf(path: string): ReadonlyArray<PlacedChange> {
    const known = this.#changes.get(path);
    if (known !== undefined) return known;
    const source = this.#sources.get(path);
    const file = source && parse(path, source.text);
    const changes = file ? placed(file, changesOf(file)) : [];
    this.#changes.set(path, changes);
    return changes;
  }
}
