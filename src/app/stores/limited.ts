import { CallLimit, within } from './call-limit.ts';

export interface PortLimits<Port> {
  /** Names the port in errors. */
  readonly name: string;
  readonly calls: MemberLimits<Port>;
}

/** The limits of a port's members. A port in a port has limits of its own. */
export type MemberLimits<Port> = { readonly [Name in keyof Port]-?: MemberLimit<Port[Name]> };

/** The limit of one call: a number of ms, also by what the call is given, or another kind of limit. */
type MemberLimit<Member> = Member extends (...given: infer Given) => unknown
  ? number | ((...given: Given) => number) | CallLimit
  : CallLimit | MemberLimits<Member>;

/**
 * Limits every call of a port, as the last resort where an adapter does not keep a limit of its own. A late result is
 * ignored. What the limits do not name cannot be called.
 * @returns the port, whose late calls throw `UnavailableError`
 */
export function limited<Port extends object>(port: Port, { name, calls }: PortLimits<Port>): Port {
  return limitedMembers(port, calls as AnyLimits, `${name}: `) as Port;
}

interface AnyLimits {
  readonly [name: string]: AnyLimit | AnyLimits;
}

type AnyLimit = number | ((...given: unknown[]) => number) | CallLimit;

function limitedMembers(port: object, limits: AnyLimits, prefix: string): object {
  const wrapped = {};
  for (const [name, limit] of Object.entries(limits)) {
    const member: unknown = Reflect.get(port, name);
    const what = `${prefix}${name}`;
    if (typeof member === 'function') Reflect.set(wrapped, name, callLimitOf(limit).limit(member.bind(port), what));
    else if (areMembers(limit)) Reflect.set(wrapped, name, limitedMembers(member as object, limit, `${what}.`));
    else Object.defineProperty(wrapped, name, { get: () => Reflect.get(port, name), enumerable: true });
  }
  return wrapped;
}

function callLimitOf(limit: AnyLimit | AnyLimits): CallLimit {
  if (limit instanceof CallLimit) return limit;
  return within(limit as number | ((...given: unknown[]) => number));
}

function areMembers(limit: AnyLimit | AnyLimits): limit is AnyLimits {
  return typeof limit === 'object' && !(limit instanceof CallLimit);
}
