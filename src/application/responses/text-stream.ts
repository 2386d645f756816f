/** An answer of any length, made while it is sent. */
export interface TextStream {
  readonly contentType: string;
  /** Pieces of text. What is thrown here breaks the answer off: nobody takes its part for the whole. */
  readonly chunks: AsyncIterable<string>;
}
