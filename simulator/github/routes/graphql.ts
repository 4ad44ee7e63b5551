import * as z from 'zod'
import { forbidden, ok, refused } from '../answer.ts'
import { execute } from '../graphql/execute.ts'
import { route } from '../route.ts'

export const graphqlRoutes = [
  route({
    method: 'POST',
    path: '/graphql',
    permission: 'authenticated',
    schema: z.looseObject({
      query: z.unknown().optional(),
      variables: z.record(z.string(), z.unknown()).nullish(),
      operationName: z.string().nullish(),
    }),
    apply: ({ state, links, token, actor }, { query, variables, operationName }) => {
      if (!token || !actor) return forbidden()
      if (typeof query !== 'string') return refused(400, 'A query attribute must be specified and must be a string.')
      // Whatever is wrong with what was asked, the answer is 200.
      return ok(execute({ state, links, token, actor }, { query, variables, operationName }))
    },
  }),
]
