import type { DocumentBufferLimits } from './documents/document-buffer.ts';

/** What a generation that follows the log keeps in memory. */
export const liveLimits: DocumentBufferLimits = { maxDocuments: 1000, maxBytes: 8 * 1024 * 1024 };

/** What a generation that is being filled keeps in memory. */
export const rebuildLimits: DocumentBufferLimits = {
  maxDocuments: 12_000,
  firstDocuments: 3_000,
  maxBytes: 32 * 1024 * 1024,
  asTexts: true,
};
