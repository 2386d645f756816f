import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { loggedError, loggedText } from './logged-error.ts';

/** The levels, the most severe first. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface ProcessLog {
  readonly logger: Logger;
  /** Writes the waiting lines, and stops the timer. */
  readonly close: () => void;
}

/** Maximum bytes of waiting lines. Further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;

/**
 * Lines are collected up to `gatheredBytes`, or for `flushIntervalMs`, before they are written, because a write for each
 * line would cost the most.
 */
const gatheredBytes = 8 * 1024;
const flushIntervalMs = 200;

/**
 * Writes to standard output: readable text on a terminal, otherwise one JSON object on each line. API keys are never
 * passed to it. If a header is logged by mistake, its value is removed.
 */
export async function createLog(level: LogLevel): Promise<ProcessLog> {
  return process.stdout.isTTY ? logOnTerminal(level) : logInLines(level);
}

async function logOnTerminal(level: LogLevel): Promise<ProcessLog> {
  const { PinoPretty } = await import('pino-pretty');
  const stream = PinoPretty({
    colorize: true,
    sync: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return { logger: loggerOn(level, stream), close: () => undefined };
}

function logInLines(level: LogLevel): ProcessLog {
  const lines = destination({ fd: 1, sync: false, minLength: gatheredBytes, maxLength: maxWaitingBytes });
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    timer = null;
    lines.flush();
  };
  const bringOut = () => {
    // This throws before the first write has begun. Then there is nothing to write.
    try {
      lines.flushSync();
    } catch {}
  };
  const gathering = {
    // A timer that always runs would write nothing, in another thread, five times a second.
    write: (line: string) => {
      lines.write(line);
      timer ??= setTimeout(flush, flushIntervalMs).unref();
    },
    // Pino calls this after a fatal line, which a process that ends immediately would lose.
    flushSync: bringOut,
  };
  process.once('exit', bringOut);
  return {
    logger: loggerOn(level, gathering),
    close: () => {
      if (timer !== null) clearTimeout(timer);
      process.off('exit', bringOut);
      bringOut();
    },
  };
}

/** A log for tests and tools. */
export function loggerOn(level: LogLevel, stream: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => loggedError(error), error: loggedText, reason: loggedText },
      redact: {
        paths: ['authorization', '["x-api-key"]', '*.authorization', '*["x-api-key"]', 'key', '*.key'],
        censor: '[redacted]',
      },
    },
    stream,
  );
}
