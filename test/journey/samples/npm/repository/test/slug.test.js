import assert from 'node:assert'
import { test } from 'node:test'
import { slug } from '../slug.js'

test('one word', () => assert.strictEqual(slug('Hello'), 'hello'))
test('two words', () => assert.strictEqual(slug('Hello World'), 'hello-world'))
test('three words', () => assert.strictEqual(slug('One Two Three'), 'one-two-three'))
