import type { JsonObject } from '#shared/json/json.ts';
import type { BackgroundTarget, ResponseOutline } from './response-store.ts';

/** What one turn adds to a conversation. */
export interface Turn {
  /** Its own input. An item that names one of another turn is a reference. */
  readonly input: ReadonlyArray<JsonObject>;
  readonly response: JsonObject;
}

/** A turn to store. */
export interface NewTurn extends Turn, Pick<ResponseOutline, 'provider'> {
  readonly projectId: string;
  readonly previous: ResponseOutline | null;
  /** The ids of the responses whose items its input names. */
  readonly referenced: ReadonlyArray<string>;
  /** The ids of the items that it has made, by which others can name them. */
  readonly itemIds: ReadonlyArray<string>;
  /** What makes it in the background; missing if it is finished. */
  readonly background?: BackgroundTarget;
}

/** The end of a turn whose response was made in the background. */
export type FinishedTurn = Pick<NewTurn, 'projectId' | 'input' | 'response' | 'itemIds'>;

/** A turn that is stored. */
export interface KeptTurn extends Turn {
  readonly outline: ResponseOutline;
}
