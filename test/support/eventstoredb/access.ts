import type { Metadata } from '@grpc/grpc-js';
import { accessDenied, type CallFailure, notAuthenticated } from './faults/failures.ts';

/** What a caller may do with streams. */
export type Rights = 'all' | 'read' | 'none';

interface User {
  readonly password: string;
  readonly rights: Rights;
}

/** Who may do what: the access lists of all streams, and the users. */
export class Access {
  /** The rights of callers that name no user. Clients name none without TLS. */
  anonymous: Rights = 'all';
  readonly #users = new Map<string, User>();
  #refusedLogins = 0;

  /** The number of calls with an unknown user or a wrong password. */
  get refusedLogins(): number {
    return this.#refusedLogins;
  }

  /** Adds a user, or changes the password and rights of one. */
  setUser(name: string, password: string, rights: Rights = 'all'): void {
    this.#users.set(name, { password, rights });
  }

  /** The refusal of a call; null for one that is allowed. */
  refusalOf(headers: Metadata, what: 'read' | 'write'): CallFailure | null {
    const rights = this.#rightsOf(headers);
    if (rights === null) return notAuthenticated();
    return rights === 'all' || rights === what ? null : accessDenied();
  }

  #rightsOf(headers: Metadata): Rights | null {
    const [, login] = /^Basic (.+)$/.exec(String(headers.get('authorization')[0])) ?? [];
    if (login === undefined) return this.anonymous;
    const [name = '', ...password] = Buffer.from(login, 'base64').toString().split(':');
    const user = this.#users.get(name);
    if (user?.password === password.join(':')) return user.rights;
    this.#refusedLogins += 1;
    return null;
  }
}
