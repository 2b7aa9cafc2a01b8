// Reads a history of operations on registers from stdin, a JSON object in each line, and prints for each register whether
// the history is linearizable: "name ok", "name illegal", or "name unknown" if that took too long.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// Times are ns of one clock. An operation without an end may still happen at any time.
type entry struct {
	Register string `json:"register"`
	Client   int    `json:"client"`
	// Null: a read.
	Written *string `json:"written"`
	Read    string  `json:"read"`
	Called  int64   `json:"called"`
	Ended   *int64  `json:"ended"`
}

var register = porcupine.Model{
	Init: func() interface{} { return "" },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		if written := input.(*string); written != nil {
			return true, *written
		}
		return output == state, state
	},
	DescribeOperation: func(input, output interface{}) string { return fmt.Sprint(input, output) },
}

func main() {
	registers := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var read entry
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			fmt.Fprintln(os.Stderr, "not an operation:", err)
			os.Exit(2)
		}
		ended := int64(math.MaxInt64)
		if read.Ended != nil {
			ended = *read.Ended
		}
		registers[read.Register] = append(registers[read.Register], porcupine.Operation{
			ClientId: read.Client, Input: read.Written, Call: read.Called, Output: read.Read, Return: ended,
		})
	}
	names := make([]string, 0, len(registers))
	for name := range registers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		result := porcupine.CheckOperationsTimeout(register, registers[name], 60*time.Second)
		verdict := map[porcupine.CheckResult]string{porcupine.Ok: "ok", porcupine.Illegal: "illegal"}[result]
		if verdict == "" {
			verdict = "unknown"
		}
		fmt.Println(name, verdict)
	}
}
