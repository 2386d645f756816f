import type { IncomingHttpHeaders } from 'node:http';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import { type Failure, failure } from '#domain/shared/failure.ts';

/** From where `/mcp` may be called by a browser. */
export interface AllowedCallers {
  /** Whether the service listens on this machine alone. */
  readonly isLoopback: boolean;
  /** Origins besides its own: `https://app.example.com`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/**
 * Why a request may not come from where it comes from; null where it may. A page of another site sends its `Origin`, and
 * one that points its name at this machine sends a foreign `Host`. Behind a proxy `Host` may be any, so it is looked at
 * on loopback alone.
 */
export function checkCallers(
  headers: IncomingHttpHeaders,
  { isLoopback, allowedOrigins }: AllowedCallers,
): Failure | null {
  const { origin, host } = headers;
  if (isLoopback && !validateHostHeader(host, hostnames(allowedOrigins)).ok) {
    return failure(
      'origin-not-allowed',
      'The Host header names another machine. Call localhost, or set MCP_ALLOWED_ORIGINS where a proxy forwards to it.',
    );
  }
  if (origin === undefined || allowedOrigins.has(origin) || isOwn(origin, host)) return null;
  return failure(
    'origin-not-allowed',
    'The page that called is of another origin. MCP_ALLOWED_ORIGINS lists those that may.',
  );
}

function hostnames(allowedOrigins: ReadonlySet<string>): string[] {
  return [...localhostAllowedHostnames(), ...[...allowedOrigins].map((origin) => new URL(origin).hostname)];
}

/** Whether a page's origin is the service itself, whichever scheme a proxy speaks before it. */
function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
