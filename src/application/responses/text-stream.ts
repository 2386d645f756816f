/** An answer of any length that is made while it is sent. */
export interface TextStream {
  readonly contentType: string;
  /** Pieces of text. An error here interrupts the answer, so that a part does not look like the whole. */
  readonly chunks: AsyncIterable<string>;
}
