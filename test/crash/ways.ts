/** `serve`: one process. `distributed`: an app and a worker with Redis between them. */
export const forms = ['serve', 'distributed'] as const
export type Form = (typeof forms)[number]
/** `restart`: another of the kind that died is started then. `takeover`: one that runs already, on the same data, goes on. */
export const successions = ['restart', 'takeover'] as const
export type Way = { form: Form; succession: (typeof successions)[number] }
