package wrap

import (
	"reflect"
	"testing"
)

func TestWrap(t *testing.T) {
	cases := []struct {
		name, text string
		width      int
		lines      []string
	}{
		{"fits", "a b", 3, []string{"a b"}},
		{"long word", "abcdef", 3, []string{"abcdef"}},
		{"exactly one too long", "ab cd", 4, []string{"ab", "cd"}},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			if lines := Wrap(each.text, each.width); !reflect.DeepEqual(lines, each.lines) {
				t.Errorf("got %q, want %q", lines, each.lines)
			}
		})
	}
}
