import * as t from 'io-ts';
import { SealedText } from '#domain/shared/personal-data.ts';

/** The events of an organization's stream. The stream of a partner's customer begins with `CustomerCreated`. */
export const organizationEvents = {
  OrganizationCreated: t.type({ id: t.string, name: t.string, partner: t.boolean }),
  CustomerCreated: t.type({
    id: t.string,
    /** The customer's first project, which a process creates. */
    projectId: t.string,
    name: SealedText,
    clientEmail: SealedText,
  }),
  PersonalDataErased: t.type({ id: t.string }),
};

export type OrganizationEvents = {
  [Type in keyof typeof organizationEvents]: t.TypeOf<(typeof organizationEvents)[Type]>;
};
