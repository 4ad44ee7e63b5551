import type { Route } from '../route.ts'
import { appRoutes } from './app.ts'
import { checkRunRoutes } from './check-run.ts'
import { commentRoutes } from './comment.ts'
import { compareRoutes } from './compare.ts'
import { contentRoutes } from './content.ts'
import { contentWriteRoutes } from './content-write.ts'
import { deliveryRoutes } from './delivery.ts'
import { gitObjectRoutes } from './git-object.ts'
import { graphqlRoutes } from './graphql.ts'
import { issueRoutes } from './issue.ts'
import { labelRoutes } from './label.ts'
import { pullRoutes } from './pull.ts'
import { pullDiffRoutes } from './pull-diff.ts'
import { reactionRoutes } from './reaction.ts'
import { refRoutes } from './ref.ts'
import { repositoryRoutes } from './repository.ts'
import { reviewRoutes } from './review.ts'
import { reviewCommentRoutes } from './review-comment.ts'
import { reviewerRoutes } from './reviewer.ts'
import { serverRoutes } from './server.ts'

/** The whole of the fake's API. A request that fits no row is answered 404 and remembered as unknown. */
export const routes: readonly Route[] = [
  ...appRoutes,
  ...serverRoutes,
  ...repositoryRoutes,
  // Before the issues: `comments` is no number.
  ...commentRoutes,
  ...issueRoutes,
  ...reactionRoutes,
  ...labelRoutes,
  ...reviewerRoutes,
  // Before the pulls: `comments` is no number.
  ...reviewCommentRoutes,
  ...reviewRoutes,
  ...pullRoutes,
  ...pullDiffRoutes,
  ...gitObjectRoutes,
  ...refRoutes,
  // Before the contents: a commit's name may hold slashes and takes the rest of the path.
  ...checkRunRoutes,
  ...compareRoutes,
  ...contentRoutes,
  ...contentWriteRoutes,
  ...deliveryRoutes,
  ...graphqlRoutes,
]
