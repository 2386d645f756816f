export interface ThreadHeap {
  /** Names the thread in errors. */
  readonly thread: string;
  /** Maximum size of objects that stay: at least three times what the thread's largest input takes. */
  readonly maxOldGenerationSizeMb: number;
  /** Maximum size of short-lived objects. */
  readonly maxYoungGenerationSizeMb: number;
}

/** The error of a thread without memory names the thread and its limit. */
export function threadError(error: unknown, { thread, maxOldGenerationSizeMb }: ThreadHeap): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (!isOutOfMemory) return error;
  return new Error(outOfMemoryText(`The thread that ${thread}`, maxOldGenerationSizeMb), { cause: error });
}

/** @param thread as the beginning of a sentence */
export function outOfMemoryText(thread: string, maxMb: number): string {
  return `${thread} has run out of memory: its heap may have ${maxMb} MB.`;
}
