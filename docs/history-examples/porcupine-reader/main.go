// Reads exports of `npm run lab -- check <history> --export porcupine` and checks with Porcupine whether a mutex could have
// granted these holds. Usage: go run . ../one-holder.porcupine.json. Prints one line per file; exits 1 if any file
// has holds that a mutex could not have granted.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/anishathalye/porcupine"
)

type input struct {
	Op     string `json:"op"`
	Holder string `json:"holder"`
}

type export struct {
	Operations []struct {
		ClientID int    `json:"clientId"`
		Call     int64  `json:"call"`
		Return   *int64 `json:"return"`
		Input    input  `json:"input"`
	} `json:"operations"`
}

// The state is the holder's name, or "" when the lock is free.
var mutex = porcupine.Model{
	Init: func() interface{} { return "" },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		holder, step := state.(string), in.(input)
		if step.Op == "acquire" {
			return holder == "", step.Holder
		}
		return holder == step.Holder, ""
	},
}

func main() {
	code := 0
	for _, file := range os.Args[1:] {
		if couldBeMutex(file) {
			fmt.Println("a mutex could have granted these holds")
		} else {
			fmt.Println("no mutex grants these holds: two holders at the same time")
			code = 1
		}
	}
	os.Exit(code)
}

func couldBeMutex(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var exported export
	if err := json.Unmarshal(text, &exported); err != nil {
		panic(err)
	}
	var operations []porcupine.Operation
	for _, op := range exported.Operations {
		returned := int64(math.MaxInt64) // no recorded return: it may take effect at any time
		if op.Return != nil {
			returned = *op.Return
		}
		operations = append(operations, porcupine.Operation{
			ClientId: op.ClientID, Input: op.Input, Call: op.Call, Return: returned,
		})
	}
	return porcupine.CheckOperations(mutex, operations)
}
