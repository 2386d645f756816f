import { turn } from '#exchange/turns.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { TurnScan } from '#responses/turn-scan.ts';
import { type ItemsPart, isReference } from '#responses/turn-text.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { stringIn } from '#shared/json/json-scanner.ts';
import { idOf, idOfReference, idOfText } from './named-item.ts';

/** An item of a page. The id is null for an item of a provider that gives no ids. */
export interface ItemOfPage {
  readonly part: ItemsPart;
  readonly id: string | null;
}

/** What a page takes of a turn. */
interface PartOfPage {
  /** The id of the item after which the page begins; null if it was found before. */
  readonly after: string | null;
  readonly count: number;
  readonly order: 'asc' | 'desc';
  /** True if the output does not belong to the list. */
  readonly isInputAlone: boolean;
}

/** The items in the order of the page; null if the item after which it begins is not in the turn. */
export type ItemsOfPage = ReadonlyArray<ItemOfPage> | null;

/** Reads a turn, and keeps only the items that belong to the page. */
export class PageOfTurn {
  readonly #turn: KeptTurn;
  readonly #wanted: PartOfPage;
  #items: ItemOfPage[] = [];
  #found: ReadonlyArray<ItemOfPage> | null = null;

  constructor(turn: KeptTurn, wanted: PartOfPage) {
    this.#turn = turn;
    this.#wanted = wanted;
    if (wanted.after === null) this.#found = this.#items;
  }

  async find(): Promise<ItemsOfPage> {
    const { bytes, textRange } = this.#turn.text;
    if (textRange !== null) this.#take({ part: { kind: 'text', ...textRange }, id: idOfText(this.#turn) });
    const scan = new TurnScan(bytes, (item) => {
      if (!item.isObject || (this.#wanted.isInputAlone && item.list === 'output')) return;
      const { start, end, id } = item;
      if (id !== null && isReference(bytes, item)) {
        const name = stringIn(bytes, id.start, id.end);
        this.#take({ part: { kind: 'reference', id: name, start, end }, id: idOfReference(this.#turn, item) });
      } else this.#take({ part: { kind: 'kept', start, end }, id: idOf(this.#turn, item) });
    });
    while (!scan.advance()) await turn(currentWorkOwner(), 'conversation', scan.bytesOfSlice);
    return this.#found === null || this.#wanted.order === 'asc' ? this.#found : this.#found.toReversed();
  }

  #take(item: ItemOfPage): void {
    if (this.#wanted.order === 'asc') this.#takeLater(item);
    else this.#takeEarlier(item);
  }

  /** In ascending order the page has what comes after the first item of the id. */
  #takeLater(item: ItemOfPage): void {
    if (this.#found !== null) {
      if (this.#items.length < this.#wanted.count) this.#items.push(item);
    } else if (item.id === this.#wanted.after) this.#found = this.#items;
  }

  /** In descending order the page has what comes before the last item of the id. */
  #takeEarlier(item: ItemOfPage): void {
    if (this.#wanted.after !== null && item.id === this.#wanted.after) this.#found = [...this.#items];
    this.#items.push(item);
    if (this.#items.length > this.#wanted.count) this.#items.shift();
  }
}
