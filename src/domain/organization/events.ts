import * as t from 'io-ts';

/** The events of an organization's stream. */
export const organizationEvents = {
  OrganizationCreated: t.type({ id: t.string, name: t.string, partner: t.boolean }),
};

export type OrganizationEvents = {
  [Type in keyof typeof organizationEvents]: t.TypeOf<(typeof organizationEvents)[Type]>;
};
