import type { BackgroundTarget, ResponseOutline } from './response-store.ts';
import type { TurnText } from './turn-text.ts';

/** A turn, whose texts are stored as they are. */
export interface NewTurn extends Pick<ResponseOutline, 'projectId' | 'id' | 'provider'> {
  /** The JSON text of its own input: a list of items, or a string. */
  readonly inputText: string;
  /** The JSON text of its response. */
  readonly responseText: string;
  readonly previous: ResponseOutline | null;
  /** The ids of the responses whose items its input names. */
  readonly referenced: ReadonlyArray<string>;
  /** The names of its items, by which others can find them. */
  readonly names: ReadonlyArray<string>;
  /** Where the response is made; missing if it is finished. */
  readonly background?: BackgroundTarget;
}

/** A turn whose response was made in the background. */
export type FinishedTurn = Pick<NewTurn, 'projectId' | 'id' | 'inputText' | 'responseText' | 'names'>;

/** What one turn adds to a conversation, as it is stored. */
export interface KeptTurn {
  readonly outline: ResponseOutline;
  readonly text: TurnText;
}
