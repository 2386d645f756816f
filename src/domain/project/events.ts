import * as t from 'io-ts';

/** The events of a project's stream. */
export const projectEvents = {
  ProjectCreated: t.type({ id: t.string, organizationId: t.string, name: t.string }),
  ProjectRenamed: t.type({ name: t.string }),
};

export type ProjectEvents = { [Type in keyof typeof projectEvents]: t.TypeOf<(typeof projectEvents)[Type]> };
