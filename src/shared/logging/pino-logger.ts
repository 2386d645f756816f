import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The process's logger, and how to write out what it still holds. */
export interface ProcessLog {
  readonly logger: Logger;
  /** Writes what waits, and stops writing on a timer. */
  readonly close: () => void;
}

/** Bytes of lines waiting to be written at most; more are dropped rather than kept. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Lines are gathered to so many bytes, or for so long, before they are written: a write a line would cost the most. */
const gatheredBytes = 8 * 1024;
const flushIntervalMs = 200;

/**
 * The service's log on standard output: readable on a terminal, else a JSON object a line. API keys are never handed to
 * it; should a header slip in, its value is taken out.
 */
export async function createLog(
  level: LogLevel,
  terminal: boolean = process.stdout.isTTY === true,
): Promise<ProcessLog> {
  return terminal ? logOnTerminal(level) : logInLines(level);
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
  const timer = setInterval(() => lines.flush(), flushIntervalMs);
  timer.unref();
  const bringOut = () => {
    // Throws while the first write has not begun, when there is nothing to bring out.
    try {
      lines.flushSync();
    } catch {}
  };
  process.once('exit', bringOut);
  return {
    logger: loggerOn(level, lines),
    close: () => {
      clearInterval(timer);
      process.off('exit', bringOut);
      bringOut();
    },
  };
}

/** A log that writes to a stream: for tests and tools. */
export function loggerOn(level: LogLevel, stream: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['authorization', '["x-api-key"]', '*.authorization', '*["x-api-key"]', 'key', '*.key'],
        censor: '[redacted]',
      },
    },
    stream,
  );
}
